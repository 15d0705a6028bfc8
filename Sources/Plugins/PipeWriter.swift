internal import Dispatch
internal import Glibc

/// The writing end of a pipe, which never makes us wait. Closed with its last reference.
final class PipeWriter {
    private let descriptor: Int32
    private let limit: Int
    private var waiting: [UInt8] = []
    private var source: (any DispatchSourceWrite)?

    /// - Parameters:
    ///   - descriptor: Becomes the writer's own.
    ///   - limit: How many bytes may wait for a reader.
    init(_ descriptor: Int32, limit: Int) {
        self.descriptor = descriptor
        self.limit = limit
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    isolated deinit {
        guard let source else {
            close(descriptor)
            return
        }
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.cancel()
    }

    /// Writes, now or when the reader has room.
    ///
    /// - Returns: False if too much waits already.
    func write(_ bytes: [UInt8]) -> Bool {
        waiting += bytes
        if source == nil { flush() }
        return waiting.count <= limit
    }

    private func flush() {
        while !waiting.isEmpty {
            let count = waiting.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EAGAIN { return waitForRoom() }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more; its end is told otherwise.
            guard count > 0 else { return waiting = [] }
            waiting.removeFirst(count)
        }
        rest()
    }

    private func waitForRoom() {
        guard source == nil else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [unowned self] in flush() }
        source.activate()
        self.source = source
    }

    private func rest() {
        // The descriptor stays open until Dispatch has let go of it.
        source?.setCancelHandler { withExtendedLifetime(self) {} }
        source?.cancel()
        source = nil
    }
}
