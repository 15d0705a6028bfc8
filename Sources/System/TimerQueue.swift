/// The timers of an event loop, in the order of their deadlines.
///
/// This type only decides; its owner reads the clock, waits and calls the handlers.
struct TimerQueue<Element> {
    typealias Instant = SuspendingClock.Instant

    /// The identity of a timer in the queue. Timers with the same deadline keep the order in which they were added.
    struct Key: Comparable {
        let deadline: Instant
        let number: UInt64

        static func < (first: Key, second: Key) -> Bool {
            (first.deadline, first.number) < (second.deadline, second.number)
        }
    }

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
        let key = Key(deadline: deadline, number: lastNumber)
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
