internal import Dispatch
internal import Glibc

/// Tells on the main queue when a socket can be read or written.
final class SocketWatch {
    enum Direction {
        case reading
        case writing
    }

    private let socket: Int32
    private let onEvent: (Int32, Direction) -> Void
    private var reading: Source?
    private var writing: Source?

    private struct Source {
        let source: any DispatchSourceProtocol
        var isRunning = false

        mutating func run(_ runs: Bool) {
            guard runs != isRunning else { return }
            isRunning = runs
            if runs { source.resume() } else { source.suspend() }
        }

        /// A source that is suspended cannot be cancelled, nor let go of.
        mutating func cancel() {
            source.cancel()
            run(true)
        }
    }

    init(_ socket: Int32, onEvent: @escaping (Int32, Direction) -> Void) {
        self.socket = socket
        self.onEvent = onEvent
    }

    /// Watches for these events from now on.
    ///
    /// - Returns: Whether that can be done: there may be no descriptors left.
    func watch(reading readingRuns: Bool, writing writingRuns: Bool) -> Bool {
        if readingRuns && reading == nil { reading = makeSource(.reading) }
        if writingRuns && writing == nil { writing = makeSource(.writing) }
        reading?.run(readingRuns)
        writing?.run(writingRuns)
        return (!readingRuns || reading != nil) && (!writingRuns || writing != nil)
    }

    func cancel() {
        reading?.cancel()
        writing?.cancel()
        reading = nil
        writing = nil
    }

    private func makeSource(_ direction: Direction) -> Source? {
        // A descriptor of our own: dispatch may look at it for a moment after libcurl has closed its.
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        let source: any DispatchSourceProtocol =
            switch direction {
            case .reading:
                DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
            case .writing:
                DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
            }
        source.setEventHandler { [socket, onEvent] in onEvent(socket, direction) }
        source.setCancelHandler { close(descriptor) }
        return Source(source: source)
    }
}
