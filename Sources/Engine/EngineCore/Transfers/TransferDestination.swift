internal import CLinux
package import EngineModel
internal import Glibc

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

    private enum Kind {
        /// A regular file or a block device, which is always ready.
        case file
        case socket
        /// Any other file, which may block a writer.
        case stream
    }

    private let descriptor: Int32
    private let kind: Kind

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

    /// Writes some of `bytes`, at least one. Blocks until that is possible.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; not empty.
    ///   - cancelled: A descriptor that becomes readable to end the wait.
    /// - Returns: The number of bytes written.
    /// - Throws: ``EngineError/cannotWrite(_:)``; `CancellationError` after the end of the wait.
    ///
    /// The corresponding C function is `write`.
    func write(_ bytes: UnsafeRawBufferPointer, until cancelled: Int32) throws -> Int {
        while true {
            try waitUntilReady(cancelled)
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
