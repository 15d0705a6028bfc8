/// A timer that calls a handler once, on the main thread.
///
/// The timer fires at its deadline or later, never earlier, and after timers with earlier deadlines. The time in which
/// the machine is suspended does not count. The timer does not fire after ``cancel()``, nor after its last reference is
/// released.
@MainActor
package final class MainLoopTimer {
    private let handler: @MainActor () -> Void
    private var key: TimerQueue<TimerReference>.Key?

    /// Creates a timer that does not run.
    ///
    /// - Parameter handler: Called at the deadline. It may start the timer again.
    package init(_ handler: @escaping @MainActor () -> Void) { self.handler = handler }

    /// Creates a timer and starts it.
    ///
    /// - Parameters:
    ///   - delay: The time until the deadline. Negative delays count as zero.
    ///   - handler: Called at the deadline; never within this call.
    package convenience init(after delay: Duration, _ handler: @escaping @MainActor () -> Void) {
        self.init(handler)
        start(after: delay)
    }

    isolated deinit { if let key { MainLoopTimers.remove(key) } }

    /// A Boolean value that indicates whether the handler will be called.
    package var isRunning: Bool { key != nil }

    /// Starts the timer, or moves its deadline if it runs.
    ///
    /// - Parameter delay: The time until the deadline. Negative delays count as zero.
    package func start(after delay: Duration) {
        cancel()
        key = MainLoopTimers.add(self, deadline: .now + max(.zero, delay))
    }

    /// Stops the timer.
    package func cancel() {
        guard let key else { return }
        self.key = nil
        MainLoopTimers.remove(key)
    }

    fileprivate func fire() {
        key = nil
        handler()
    }
}

/// A weak reference to a timer.
struct TimerReference {
    weak let timer: MainLoopTimer?
}

/// The timers of the process that run.
@MainActor
enum MainLoopTimers {
    private static var queue = TimerQueue<TimerReference>()
    /// The earliest deadline, which the event loop reads in each round; nil without timers.
    private static var firstDeadline: SuspendingClock.Instant?

    fileprivate static func add(
        _ timer: MainLoopTimer, deadline: SuspendingClock.Instant
    ) -> TimerQueue<TimerReference>.Key {
        defer { schedule() }
        return queue.add(TimerReference(timer: timer), deadline: deadline)
    }

    fileprivate static func remove(_ key: TimerQueue<TimerReference>.Key) {
        queue.remove(key)
        schedule()
    }

    /// Returns the time until the first deadline in milliseconds for poll(2), rounded up; -1 without timers.
    static var timeoutMilliseconds: Int32 {
        guard let deadline = firstDeadline else { return -1 }
        let rest = max(.zero, deadline - .now)
        return Int32(min((rest / .milliseconds(1)).rounded(.up), 1e9))
    }

    /// Calls the handlers of the timers whose deadline has come.
    static func fire() {
        guard let deadline = firstDeadline else { return }
        let now = SuspendingClock.now
        guard deadline <= now else { return }
        let limit = queue.lastNumber
        while let reference = queue.popDue(at: now, addedUntil: limit) { reference.timer?.fire() }
        schedule()
    }

    /// Updates the earliest deadline.
    private static func schedule() {
        let previous = firstDeadline
        firstDeadline = queue.firstDeadline
        if firstDeadline != previous { MainLoop.onChange?() }
    }
}

/// The timers of an event loop, in the order of their deadlines.
///
/// This type only decides; its owner reads the clock, waits and calls the handlers.
struct TimerQueue<Element> {
    typealias Instant = SuspendingClock.Instant

    /// The identity of a timer in the queue. Timers with the same deadline keep the order in which they were added.
    typealias Key = (deadline: Instant, number: UInt64)

    /// The timers in descending order of their keys: the earliest timer is the last element.
    private var entries: [(key: Key, element: Element)] = []
    /// The number of the timer that was added last.
    private(set) var lastNumber: UInt64 = 0

    /// The earliest deadline; nil without timers.
    var firstDeadline: Instant? { entries.last?.key.deadline }

    /// Adds a timer.
    ///
    /// - Returns: The key for ``remove(_:)``.
    mutating func add(_ element: Element, deadline: Instant) -> Key {
        lastNumber += 1
        let key = (deadline, lastNumber)
        entries.insert((key, element), at: index { $0 > key })
        return key
    }

    /// Removes a timer. A key that is not in the queue is ignored.
    mutating func remove(_ key: Key) {
        let index = index { $0 > key }
        if index < entries.count, entries[index].key == key { entries.remove(at: index) }
    }

    /// Removes and returns the earliest timer whose deadline has come.
    ///
    /// - Parameters:
    ///   - now: The time at the start of the round.
    ///   - limit: The value of ``lastNumber`` at the start of the round. Timers that a handler adds wait for the next
    ///     round.
    /// - Returns: The timer; nil if no timer is due.
    mutating func popDue(at now: Instant, addedUntil limit: UInt64) -> Element? {
        guard let first = entries.last, first.key.deadline <= now, first.key.number <= limit else {
            return nil
        }
        entries.removeLast()
        return first.element
    }

    /// Returns the number of entries for which the predicate is true. They precede all others.
    private func index(_ isBefore: (Key) -> Bool) -> Int {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                isBefore(entries[middle].key)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

/// A clock whose sleepers wait in the event loop of the main thread.
///
/// `Task.sleep` waits on a global queue of libdispatch, whose pool, once started, wakes the process every second.
/// Tolerances are ignored. The time in which the machine is suspended does not count.
package struct MainLoopClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { .milliseconds(1) }

    /// Waits until the deadline.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Self.sleep(for: max(.zero, deadline - now))
    }

    @MainActor private static func sleep(for duration: Duration) async throws {
        let result = OneShotResult<Void, any Error>()
        let timer = MainLoopTimer(after: duration) { result.complete(.success(())) }
        defer { timer.cancel() }
        try await result.valueUnlessCancelled()
    }
}

extension Duration {
    /// The length in nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
