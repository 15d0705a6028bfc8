import TestSupport
import Testing

@testable import DBus

struct CallQueueTests {
    @Test func `each client can have 256 unfinished calls`() {
        var calls = CallQueue<Int>()
        let added = (0..<257).map { calls.add($0, of: ":1.1") }
        #expect(added.firstIndex(of: false) == 256)
        let isOtherAdded = calls.add(0, of: ":1.2")
        // The first call is in progress then.
        let first = calls.next()
        let isAddedMeanwhile = calls.add(257, of: ":1.1")
        calls.finish(":1.1")
        let isAddedAfterwards = calls.add(257, of: ":1.1")
        calls.finish(":1.3")
        #expect(isOtherAdded && first == 0 && !isAddedMeanwhile && isAddedAfterwards)
    }

    /// Compares the queue with a list of calls for each client.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `clients take turns and keep the order of their calls`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let names: [BusName] = [":1.0", ":1.1", ":1.2", ":1.3", ":1.4"]
        var calls = CallQueue<[Int]>()
        var model: [Int: [Int]] = [:]
        var passedOver: [Int: Int] = [:]
        for number in 0..<2000 {
            let client = Int.random(in: 0..<5, using: &random)
            if Int.random(in: 0..<100, using: &random) < 55, model[client, default: []].count < 200
            {
                #expect(calls.add([client, number], of: names[client]) == true)
                model[client, default: []].append(number)
                continue
            }
            guard let next = calls.next() else {
                let waiting = model.values.reduce(0) { $0 + $1.count }
                #expect(waiting == 0)
                continue
            }
            let expected = model[next[0]]?.removeFirst()
            #expect(expected == next[1])
            calls.finish(names[next[0]])
            for (client, waiting) in model where !waiting.isEmpty && client != next[0] {
                passedOver[client, default: 0] += 1
                #expect(passedOver[client, default: 0] <= 5)
            }
            passedOver[next[0]] = 0
        }
    }
}
