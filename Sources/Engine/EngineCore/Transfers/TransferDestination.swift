internal import CLinux
internal import Dispatch
package import EngineModel
internal import Glibc
internal import ProviderKit
internal import Synchronization
internal import System
internal import Translation

/// A descriptor of a caller to which a photo is written: a file, a pipe or a socket.
///
/// It is a duplicate, which is closed with the last reference. It shares the file position and the status flags with
/// the caller's descriptor, so the flags are not changed.
nonisolated package final class TransferDestination: Sendable {
    /// The longest time for which the reader may accept no data.
    private static let timeoutMilliseconds: Int32 = 600_000
    /// The number of bytes that a pipe accepts without blocking when it is ready.
    ///
    /// Source: pipe(7), PIPE_BUF.
    private static let pipeBytes = 4096
    private static let bufferBytes = 256 << 10

    private let descriptor: Int32
    /// The type of the file, for example `S_IFSOCK`.
    private let type: mode_t
    private let copied = Atomic(0)
    /// True if a report of ``copied`` is scheduled on the main queue.
    private let isReportScheduled = Atomic(false)

    /// Duplicates `original`, which the caller still owns.
    ///
    /// - Throws: ``EngineError/invalidArgument(_:)`` if it is not open for writing,
    ///   ``EngineError/cannotWrite(_:)`` if no more descriptors are available.
    package init(duplicating original: Int32) throws(EngineError) {
        let flags = fcntl(original, F_GETFL)
        // A descriptor that was opened with O_PATH has the access mode O_RDONLY.
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw .invalidArgument("The destination is not open for writing.")
        }
        var status = stat()
        guard fstat(original, &status) == 0 else { throw .cannotWrite(errno) }
        type = status.st_mode & S_IFMT
        descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .cannotWrite(errno) }
    }

    deinit { close(descriptor) }

    /// Copies a whole file, without a time limit. The copy has its own queue, because the reader or the disk may be slow.
    ///
    /// - Parameters:
    ///   - source: A file that is open for reading, at its beginning. It is closed. Data that is appended later, possibly
    ///     by this copy, is not copied.
    ///   - progress: Called at the start, and with the number of bytes written. The second argument is the size of the
    ///     file. It may be called once more after this returns.
    /// - Returns: The size of the file.
    /// - Throws: ``EngineError/cannotWrite(_:)``; ``ProviderError/failed(_:)`` if the source cannot be read;
    ///   `CancellationError` if the task is cancelled. Nothing is written after this returns or throws.
    @MainActor
    func copy(
        _ source: Int32, _ progress: @escaping @MainActor (_ copied: Int, _ total: Int) -> Void
    ) async throws -> Int {
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0, let ends = try? PipeEnds() else {
            throw EngineError.cannotWrite(errno)
        }
        // The reading end becomes readable, permanently, when the copy is cancelled.
        let (cancelled, trigger) = (ends.takeReading(), ends.takeWriting())
        defer { for end in [cancelled, trigger] { close(end) } }
        let total = Int(status.st_size)
        progress(0, total)
        try await withTaskCancellationHandler {
            try await DispatchQueue(label: "transfer").run {
                try self.copy(total, from: source, until: cancelled) { progress($0, total) }
            }
        } onCancel: {
            _ = Glibc.write(trigger, "!", 1)
        }
        return total
    }

    private func copy(
        _ total: Int, from source: Int32, until cancelled: Int32,
        _ progress: @escaping @MainActor (Int) -> Void
    ) throws {
        var buffer = [UInt8](repeating: 0, count: min(Self.bufferBytes, max(1, total)))
        var left = total
        while left > 0 {
            let count = read(source, &buffer, min(buffer.count, left))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ProviderError.failed(
                    Message(
                        verbatim: "The photo cannot be read: \(String(cString: strerror(errno)))."))
            }
            guard count > 0 else {
                throw ProviderError.failed(
                    Message(verbatim: "The photo changed while it was being copied; try again."))
            }
            try buffer.withUnsafeBytes { try write($0[..<count], until: cancelled, progress) }
            left -= count
        }
    }

    private func write(
        _ bytes: Slice<UnsafeRawBufferPointer>, until cancelled: Int32,
        _ progress: @escaping @MainActor (Int) -> Void
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = try write(UnsafeRawBufferPointer(rebasing: rest), until: cancelled)
            rest = rest.dropFirst(count)
            copied.add(count, ordering: .relaxed)
            guard !isReportScheduled.exchange(true, ordering: .acquiringAndReleasing) else {
                continue
            }
            DispatchQueue.main.async {
                self.isReportScheduled.store(false, ordering: .releasing)
                progress(self.copied.load(ordering: .relaxed))
            }
        }
    }

    /// Writes some of `bytes`, at least one. Blocks until that is possible.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; not empty.
    ///   - cancelled: A descriptor that becomes readable to end the wait.
    /// - Returns: The number of bytes written.
    /// - Throws: ``EngineError/cannotWrite(_:)``; `CancellationError` after the end of the wait.
    ///
    /// The corresponding C function is `write`.
    private func write(_ bytes: UnsafeRawBufferPointer, until cancelled: Int32) throws -> Int {
        while true {
            try waitUntilReady(cancelled)
            let count =
                switch type {
                // Always ready.
                case S_IFREG, S_IFBLK: Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                case S_IFSOCK:
                    send(
                        descriptor, bytes.baseAddress, bytes.count,
                        Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                // Any other file may block a writer.
                default:
                    Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Self.pipeBytes))
                }
            if count > 0 { return count }
            guard count < 0 else { throw EngineError.cannotWrite(EIO) }
            guard [EINTR, EAGAIN].contains(errno) else { throw EngineError.cannotWrite(errno) }
        }
    }

    private func waitUntilReady(_ cancelled: Int32) throws {
        var watched = [
            pollfd(fd: cancelled, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        ]
        while true {
            let count = poll(&watched, 2, Self.timeoutMilliseconds)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw EngineError.cannotWrite(errno) }
            guard count > 0 else { throw EngineError.cannotWrite(ETIMEDOUT) }
            guard watched[0].revents == 0 else { throw CancellationError() }
            return
        }
    }
}
