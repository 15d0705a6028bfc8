import Testing

@testable import System

struct TimerQueueTests {
    private let start = SuspendingClock.now

    /// Removes all due timers.
    private func due(_ queue: inout TimerQueue<Int>, after seconds: Int) -> [Int] {
        var elements: [Int] = []
        let limit = queue.lastNumber
        while let element = queue.popDue(at: start + .seconds(seconds), addedUntil: limit) {
            elements.append(element)
        }
        return elements
    }

    @Test func `timers are due in the order of their deadlines`() {
        var queue = TimerQueue<Int>()
        for seconds in [3, 1, 4, 1, 5, 9, 2, 6] {
            _ = queue.add(seconds, deadline: start + .seconds(seconds))
        }
        #expect(queue.firstDeadline == start + .seconds(1))
        #expect(due(&queue, after: 0) == [])
        #expect(due(&queue, after: 4) == [1, 1, 2, 3, 4])
        #expect(due(&queue, after: 4) == [])
        #expect(due(&queue, after: 100) == [5, 6, 9])
        #expect(queue.firstDeadline == nil)
    }

    @Test func `timers with the same deadline keep their order`() {
        var queue = TimerQueue<Int>()
        for number in 0..<10 { _ = queue.add(number, deadline: start) }
        #expect(due(&queue, after: 0) == Array(0..<10))
    }

    @Test func `a removed timer is not due, and other keys are ignored`() {
        var queue = TimerQueue<Int>()
        let keys = (0..<5).map { queue.add($0, deadline: start + .seconds($0 % 2)) }
        for index in [2, 1, 2] { queue.remove(keys[index]) }
        #expect(due(&queue, after: 0) == [0, 4])
        queue.remove(keys[0])
        #expect(due(&queue, after: 1) == [3])
    }

    @Test func `a timer that is added in a round waits for the next one`() {
        var queue = TimerQueue<Int>()
        let limit = queue.lastNumber
        _ = queue.add(1, deadline: start)
        #expect(queue.popDue(at: start, addedUntil: limit) == nil)
        #expect(due(&queue, after: 0) == [1])
    }

    @Test func `a thousand timers in random order are due in order`() {
        var queue = TimerQueue<Int>()
        var numbers = Array(0..<1000)
        numbers.shuffle()
        var keys: [Int: TimerQueue<Int>.Key] = [:]
        for number in numbers {
            keys[number] = queue.add(number, deadline: start + .seconds(number))
        }
        for number in numbers where number % 3 == 0 {
            if let key = keys[number] { queue.remove(key) }
        }
        #expect(due(&queue, after: 1000) == (0..<1000).filter { $0 % 3 != 0 })
    }
}
