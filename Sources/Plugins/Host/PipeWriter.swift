internal import Glibc
internal import System

/// The writing end of a pipe, which never makes us wait. Closed with its last reference.
final class PipeWriter {
    private let descriptor: Int32
    private let limit: Int
    private var waiting: [UInt8] = []
    /// How much of it has been written.
    private var written = 0
    /// Tells that there is room. Runs while something waits.
    private var room: DescriptorSource?

    /// - Parameters:
    ///   - descriptor: Becomes the writer's own.
    ///   - limit: How many bytes may wait for a reader.
    init(_ descriptor: Int32, limit: Int) {
        self.descriptor = descriptor
        self.limit = limit
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        room = DescriptorSource(descriptor, .writing) { [weak self] in self?.flush() }
    }

    isolated deinit { room?.cancel() }

    /// Writes, now or when the reader has room.
    ///
    /// - Returns: False if too much waits already.
    func write(_ bytes: [UInt8]) -> Bool {
        if waiting.isEmpty {
            waiting = bytes
            flush()
        } else {
            waiting += bytes
        }
        return waiting.count - written <= limit
    }

    private func flush() {
        while written < waiting.count {
            let count = waiting.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if count < 0, errno == EAGAIN { break }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more, if none is taken; its end is told otherwise.
            written = count > 0 ? written + count : waiting.count
        }
        if written == waiting.count {
            waiting = []
            written = 0
            room?.suspend()
        } else {
            // A reader that takes little at a time does not have us move the rest each time.
            if written > waiting.count / 2 {
                waiting.removeFirst(written)
                written = 0
            }
            room?.resume()
        }
    }
}
