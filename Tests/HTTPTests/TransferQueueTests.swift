import Testing

@testable import HTTP

@Suite struct TransferQueueTests {
    private typealias Queue = TransferQueue<String, Int>

    private func makeQueue(_ change: (inout Limits) -> Void = { _ in }) -> Queue {
        Queue(limits: makeLimits(change))
    }

    @Test func `queued transfers of a host start in order when connections become free`() {
        var queue = makeQueue { $0.transfersPerHost = 2 }
        #expect(queue.add(1, .request, to: "a") == [1])
        #expect(queue.add(2, .request, to: "a") == [2])
        #expect(queue.add(3, .request, to: "a") == [])
        #expect(queue.add(4, .request, to: "a") == [])
        #expect(queue.add(5, .request, to: "b") == [5])
        #expect(queue.remove(2) == [3])
        #expect(queue.remove(5) == [])
        #expect(queue.remove(1) == [4])
    }

    @Test func `requests and downloads of a host leave connections for each other`() {
        var queue = makeQueue()
        for id in 0..<20 { #expect(queue.add(id, .download, to: "a") == (id < 6 ? [id] : [])) }
        for id in 20..<40 { #expect(queue.add(id, .request, to: "a") == (id < 22 ? [id] : [])) }
        // A free connection goes to a request, and to a download once six requests run.
        #expect(queue.remove(0) == [22])
        #expect(queue.remove(20) == [23])
        for id in 1...3 { #expect(queue.remove(id) == [id + 23]) }
        #expect(queue.remove(4) == [6])
        #expect(queue.remove(5) == [7])
    }

    @Test func `downloads of many hosts leave connections for requests`() {
        var queue = makeQueue()
        var started = 0
        for id in 0..<60 { started += queue.add(id, .download, to: "host \(id % 10)").count }
        #expect(started == 24)
        #expect(queue.add(100, .request, to: "api") == [100])
        #expect(queue.add(101, .request, to: "host 0") == [101])
    }

    @Test func `hosts alternate`() {
        var queue = makeQueue {
            $0.connections = 2
            $0.downloads = 1
        }
        #expect(queue.add(1, .download, to: "a") == [1])
        for id in 2...4 { #expect(queue.add(id, .download, to: "a") == []) }
        for id in 5...6 { #expect(queue.add(id, .download, to: "b") == []) }
        var order: [Int] = []
        var last = 1
        while let next = queue.remove(last).first {
            order.append(next)
            last = next
        }
        #expect(order == [2, 5, 3, 6, 4])
    }

    @Test func `a removed transfer does not start`() {
        var queue = makeQueue { $0.transfersPerHost = 1 }
        #expect(queue.add(1, .request, to: "a") == [1])
        #expect(queue.add(2, .request, to: "a") == [])
        #expect(queue.add(3, .request, to: "a") == [])
        #expect(queue.remove(2) == [])
        #expect(queue.remove(2) == [])
        #expect(queue.remove(1) == [3])
        #expect(queue.add(4, .request, to: "a") == [])
        queue.removeWaiting()
        #expect(queue.remove(3) == [])
        #expect(queue.add(5, .request, to: "a") == [5])
    }

    // MARK: Plugins

    @Test func `plugins leave connections for built-in providers`() {
        var queue = makeQueue()
        var started: [String: Int] = [:]
        for id in 0..<64 {
            let plugin = "plugin \(id % 8)"
            started[plugin, default: 0] +=
                queue.add(id, .request, to: "silent \(id)", for: plugin).count
        }
        #expect(started.values.reduce(0, +) == 24)
        #expect(started.values.allSatisfy { $0 <= 6 })
        for id in 100..<108 { #expect(queue.add(id, .request, to: "api \(id)") == [id]) }
        #expect(queue.add(108, .request, to: "api 108") == [])
        // Built-in providers come first.
        #expect(queue.remove(0) == [108])
    }

    @Test func `a plugin has its share of the connections`() {
        var queue = makeQueue()
        var started = 0
        for id in 0..<20 {
            started += queue.add(id, .request, to: "host \(id)", for: "one").count
        }
        #expect(started == 6)
        #expect(queue.add(20, .request, to: "host 20", for: "two") == [20])
        #expect(queue.remove(0) == [6])
    }

    @Test func `downloads of a plugin leave connections for its requests`() {
        var queue = makeQueue()
        var started = 0
        for id in 0..<20 {
            started += queue.add(id, .download, to: "host \(id)", for: "one").count
        }
        #expect(started == 4)
        #expect(queue.add(20, .request, to: "host", for: "one") == [20])
    }

    @Test func `plugins leave connections to a host of a built-in provider`() {
        var queue = makeQueue()
        var started = 0
        for id in 0..<12 {
            started += queue.add(id, .request, to: "api", for: "plugin \(id % 2)").count
        }
        #expect(started == 6)
        #expect(queue.add(12, .request, to: "api") == [12])
        #expect(queue.add(13, .request, to: "api") == [13])
        #expect(queue.add(14, .request, to: "api") == [])
        #expect(queue.remove(0) == [14])
    }

    @Test func `the plugin with the fewest transfers comes first`() {
        var queue = makeQueue { $0.pluginTransfers = 3 }
        for id in 0..<3 {
            #expect(queue.add(id, .request, to: "host \(id)", for: "one") == [id])
        }
        #expect(queue.add(3, .request, to: "host 3", for: "one") == [])
        #expect(queue.add(4, .request, to: "host 4", for: "two") == [])
        #expect(queue.remove(0) == [4])
        #expect(queue.remove(1) == [3])
    }
}
