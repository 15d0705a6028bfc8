internal import CLinux
internal import Glibc
internal import System

/// A descriptor of a caller's, into which a photo is written: a file, a pipe, a socket.
///
/// A duplicate, closed with the last reference. It shares its place and its flags with the caller's: nothing
/// is changed but what is written.
nonisolated package final class TransferDestination: Sendable {
    /// How long somebody may read nothing of what is being written.
    private static let patienceMilliseconds: Int32 = 600_000
    /// A pipe that is ready takes so much without waiting.
    ///
    /// Source: pipe(7), PIPE_BUF.
    private static let pipeBytes = 4096

    private enum Kind {
        /// A file on a disk, or one of the kernel's: always ready.
        case file
        case socket
        /// Whatever may keep a writer waiting.
        case stream
    }

    private let descriptor: Int32
    private let kind: Kind

    /// Duplicates `original`, which stays the caller's.
    ///
    /// - Throws: ``EngineError/invalidArgument(_:)`` when it is not open for writing,
    ///   ``EngineError/cannotWrite(_:)`` when there can be no more descriptors.
    package init(duplicating original: Int32) throws(EngineError) {
        let flags = fcntl(original, F_GETFL)
        // Opened for its path alone (O_PATH), a file reads as if it were open for reading.
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw .invalidArgument("The destination is not open for writing.")
        }
        var status = stat()
        guard fstat(original, &status) == 0 else { throw .cannotWrite(errno) }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG, S_IFBLK: .file
            case S_IFSOCK: .socket
            default: .stream
            }
        descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .cannotWrite(errno) }
    }

    deinit { close(descriptor) }

    /// Writes some of `bytes`, at least one; waits until that is possible.
    ///
    /// - Parameters:
    ///   - bytes: Not empty.
    ///   - interruption: Ends the waiting.
    /// - Returns: How many were written.
    /// - Throws: ``EngineError/cannotWrite(_:)``; `CancellationError` after an interruption.
    ///
    /// The corresponding C function is `write`.
    func write(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws -> Int {
        while true {
            try waitUntilReady(interruption)
            let count =
                switch kind {
                case .file: Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                case .stream:
                    Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Self.pipeBytes))
                case .socket:
                    send(
                        descriptor, bytes.baseAddress, bytes.count,
                        Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
            if count > 0 { return count }
            guard count < 0 else { throw EngineError.cannotWrite(EIO) }
            guard [EINTR, EAGAIN].contains(errno) else { throw EngineError.cannotWrite(errno) }
        }
    }

    private func waitUntilReady(_ interruption: Interruption) throws {
        var watched = [
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        ]
        while true {
            let count = poll(&watched, 2, Self.patienceMilliseconds)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw EngineError.cannotWrite(errno) }
            guard count > 0 else { throw EngineError.cannotWrite(ETIMEDOUT) }
            guard watched[0].revents == 0 else { throw CancellationError() }
            return
        }
    }
}

/// Tells a thread that waits in the kernel to stop; once, and for good.
nonisolated final class Interruption: Sendable {
    /// Can be read from once it has come.
    let descriptor: Int32
    private let trigger: Int32

    /// - Throws: ``EngineError/cannotWrite(_:)`` when there can be no more descriptors.
    init() throws(EngineError) {
        do throws(SpawnError) {
            let ends = try PipeEnds()
            (descriptor, trigger) = (ends.takeReading(), ends.takeWriting())
        } catch {
            throw .cannotWrite(error.code)
        }
    }

    deinit {
        close(descriptor)
        close(trigger)
    }

    func raise() { _ = Glibc.write(trigger, "!", 1) }
}
