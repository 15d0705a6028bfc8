internal import CLinux
internal import Dispatch
internal import EngineModel
internal import Glibc
internal import ProviderKit
internal import Synchronization
internal import System
internal import Translation

/// The copying of a file to a caller's descriptor. It has its own queue, because the reader or the disk may be slow.
nonisolated final class FileCopy: Sendable {
    private static let bufferBytes = 256 << 10

    private let source: Int32
    /// The size of the source at the start. Data that is appended later, possibly by this copy, is not copied.
    let total: Int
    private let destination: TransferDestination
    /// The ends of a pipe. The reading end becomes readable, permanently, when the copy is cancelled.
    private let (cancelled, trigger): (Int32, Int32)
    private let copied = Atomic(0)
    /// True if a report of ``copied`` is scheduled on the main queue.
    private let isReportScheduled = Atomic(false)

    /// - Parameters:
    ///   - source: A file that is open for reading, at its beginning. It is closed with the last reference, and if
    ///     this throws.
    ///   - destination: The destination.
    /// - Throws: ``EngineError/cannotWrite(_:)`` if no more descriptors are available.
    init(of source: Int32, to destination: TransferDestination) throws(EngineError) {
        var status = stat()
        guard fstat(source, &status) == 0, let ends = try? PipeEnds() else {
            let code = errno
            close(source)
            throw .cannotWrite(code)
        }
        (cancelled, trigger) = (ends.takeReading(), ends.takeWriting())
        self.source = source
        self.destination = destination
        total = Int(status.st_size)
    }

    deinit { for descriptor in [source, cancelled, trigger] { close(descriptor) } }

    /// Copies the whole file, without a time limit.
    ///
    /// - Parameter progress: Called on the main queue with the number of bytes written. It may be called once more
    ///   after this returns.
    /// - Throws: ``EngineError/cannotWrite(_:)``; ``ProviderError/failed(_:)`` if the source cannot be read;
    ///   `CancellationError` if the task is cancelled. Nothing is written after this returns or throws.
    func run(_ progress: @escaping @MainActor (Int) -> Void) async throws {
        try await withTaskCancellationHandler {
            try await DispatchQueue(label: "transfer").run { try self.copy(progress) }
        } onCancel: {
            _ = Glibc.write(trigger, "!", 1)
        }
    }

    private func copy(_ progress: @escaping @MainActor (Int) -> Void) throws {
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
            try buffer.withUnsafeBytes {
                try write(UnsafeRawBufferPointer(rebasing: $0[..<count]), progress)
            }
            left -= count
        }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, _ progress: @escaping @MainActor (Int) -> Void
    ) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try destination.write(
                UnsafeRawBufferPointer(rebasing: rest), until: cancelled)
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
}
