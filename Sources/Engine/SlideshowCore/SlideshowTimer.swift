internal import System

/// The timer of the slideshow. While it is stopped, its remaining time does not change.
final class SlideshowTimer {
    private let clock: any Clock<Duration>
    private let onFire: () -> Void
    private var interval: Duration?
    private var task: Task<Void, Never>?
    /// Returns the remaining time of the running timer. The time of a suspend of the machine counts.
    private var remaining: (() -> Duration)?
    /// The remaining time of the stopped timer; nil for a complete interval.
    private var rest: Duration?
    /// True from the moment at which the timer fires until ``restart()``.
    private var hasFired = false

    /// - Parameters:
    ///   - clock: The clock.
    ///   - onFire: Called when the time has passed. Calls ``restart()`` when the photo has changed.
    init(_ clock: any Clock<Duration>, onFire: @escaping () -> Void) {
        self.clock = clock
        self.onFire = onFire
    }

    /// True if the timer wakes the process up later.
    var isRunning: Bool { task != nil }

    /// Starts, changes or stops the timer. A changed interval starts from its beginning; an unchanged one continues.
    func update(_ interval: Duration?) {
        guard interval != self.interval else { return }
        let wasStopped = self.interval == nil
        self.interval = interval
        guard let interval else {
            rest = remaining?() ?? rest
            cancel()
            return
        }
        guard !hasFired else { return }
        let time = wasStopped ? min(rest ?? interval, interval) : interval
        rest = nil
        start(after: time)
    }

    /// Begins a complete interval, because the photo has changed.
    func restart() {
        hasFired = false
        rest = nil
        cancel()
        if let interval { start(after: interval) }
    }

    /// Continues after a suspend of the machine. If the time passed meanwhile, the timer fires once.
    func resumed() {
        if let remaining { start(after: remaining()) }
    }

    /// Stops the timer permanently.
    func stop() {
        interval = nil
        cancel()
    }

    private func cancel() {
        task?.cancel()
        task = nil
        remaining = nil
    }

    private func start(after time: Duration) {
        cancel()
        let time = max(time, .zero)
        let passed = clock.stopwatch()
        remaining = { time - passed() }
        task = clock.after(time) { [weak self] in
            guard let self, !Task.isCancelled else { return }
            task = nil
            remaining = nil
            hasFired = true
            onFire()
        }
    }
}
