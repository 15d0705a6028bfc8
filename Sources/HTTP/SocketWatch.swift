internal import Glibc
internal import System

/// The watch of a libcurl socket in the event loop.
final class SocketWatch {
    private let socket: Int32
    private let onEvent: (Int32, DescriptorSource.Event) -> Void
    private var reading: DescriptorSource?
    private var writing: DescriptorSource?

    init(_ socket: Int32, onEvent: @escaping (Int32, DescriptorSource.Event) -> Void) {
        self.socket = socket
        self.onEvent = onEvent
    }

    /// Changes the events to watch for.
    ///
    /// - Returns: False if the process has no free descriptors.
    func watch(reading readingRuns: Bool, writing writingRuns: Bool) -> Bool {
        run(&reading, .reading, readingRuns) && run(&writing, .writing, writingRuns)
    }

    func cancel() {
        reading?.cancel()
        writing?.cancel()
        reading = nil
        writing = nil
    }

    private func run(
        _ source: inout DescriptorSource?, _ event: DescriptorSource.Event, _ runs: Bool
    ) -> Bool {
        guard runs else {
            source?.suspend()
            return true
        }
        if source == nil {
            // Duplicates the descriptor, because libcurl closes its socket before the source is cancelled.
            let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            source = DescriptorSource(descriptor, event) { [socket, onEvent] in
                onEvent(socket, event)
            }
        }
        source?.resume()
        return true
    }
}
