internal import Dispatch

/// Does something once, on the main queue, unless it is cancelled or dropped before.
final class OneShotTimer {
    private let source: any DispatchSourceTimer

    init(after delay: Duration, _ action: @escaping () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .main)
        // Never too early.
        let milliseconds = max(0, Int((delay / .milliseconds(1)).rounded(.up)))
        source.schedule(
            deadline: .now() + .milliseconds(milliseconds),
            leeway: .milliseconds(min(500, milliseconds / 10)))
        source.setEventHandler { [source] in
            source.cancel()
            action()
        }
        source.activate()
    }

    isolated deinit { source.cancel() }

    func cancel() { source.cancel() }
}
