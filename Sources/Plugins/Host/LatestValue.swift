internal import System

/// A rate limiter for a value. The latest value is always delivered.
final class LatestValue<Value> {
    private let interval: Duration
    private let deliver: (Value) -> Void
    private var waiting: Value?
    private var pause: MainLoopTimer?

    /// - Parameters:
    ///   - interval: The shortest time between two deliveries.
    ///   - deliver: The receiver of the values.
    init(every interval: Duration, deliver: @escaping (Value) -> Void) {
        self.interval = interval
        self.deliver = deliver
    }

    /// Delivers a value, now or at the end of the interval.
    func send(_ value: Value) {
        guard pause == nil else {
            waiting = value
            return
        }
        deliver(value)
        pause = MainLoopTimer(after: interval) { [weak self] in self?.endPause() }
    }

    private func endPause() {
        pause = nil
        guard let value = waiting else { return }
        waiting = nil
        send(value)
    }
}
