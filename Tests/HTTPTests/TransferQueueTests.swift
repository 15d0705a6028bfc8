import Testing

@testable import HTTP

@Suite struct TransferQueueTests {
    private typealias Queue = TransferQueue<String, Int>

    private func makeQueue(_ change: (inout Limits) -> Void = { _ in }) -> Queue {
        Queue(limits: makeLimits(.wide, change))
    }

    @Test func `queued transfers of a host start in order when connections become free`() {
        var queue = makeQueue { $0.transfersPerHost = 2 }
        let started = (1...4).map { queue.add($0, to: "a") } + [queue.add(5, to: "b")]
        #expect(started == [[1], [2], [], [], [5]])
        let next = [2, 5, 1].map { queue.remove($0) }
        #expect(next == [[3], [], [4]])
    }

    @Test func `requests and downloads of a host leave connections for each other`() {
        var queue = makeQueue()
        for id in 0..<20 {
            #expect(queue.add(id, to: "a", isDownload: true) == (id < 6 ? [id] : []))
        }
        for id in 20..<40 { #expect(queue.add(id, to: "a") == (id < 22 ? [id] : [])) }
        // A free connection goes to a request, and to a download once six requests run.
        #expect(queue.remove(0) == [22])
        #expect(queue.remove(20) == [23])
        for id in 1...3 { #expect(queue.remove(id) == [id + 23]) }
        #expect(queue.remove(4) == [6])
        #expect(queue.remove(5) == [7])
    }

    @Test func `downloads of many hosts leave connections for requests`() {
        var queue = makeQueue()
        let started = (0..<60).flatMap { queue.add($0, to: "host \($0 % 10)", isDownload: true) }
        #expect(started.count == 24)
        #expect(queue.add(100, to: "api") == [100])
        #expect(queue.add(101, to: "host 0") == [101])
    }

    @Test func `hosts alternate`() {
        var queue = makeQueue {
            $0.connections = 2
            $0.downloads = 1
        }
        #expect(queue.add(1, to: "a", isDownload: true) == [1])
        for id in 2...4 { #expect(queue.add(id, to: "a", isDownload: true) == []) }
        for id in 5...6 { #expect(queue.add(id, to: "b", isDownload: true) == []) }
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
        let started = (1...3).map { queue.add($0, to: "a") }
        #expect(started == [[1], [], []])
        let next = [2, 2, 1].map { queue.remove($0) }
        #expect(next == [[], [], [3]])
        #expect(queue.add(4, to: "a") == [])
        queue.removeWaiting()
        #expect(queue.remove(3) == [])
        #expect(queue.add(5, to: "a") == [5])
    }

    // MARK: Plugins

    @Test func `plugins leave connections for built-in providers`() {
        var queue = makeQueue()
        var started: [String: Int] = [:]
        for id in 0..<64 {
            let plugin = "plugin \(id % 8)"
            started[plugin, default: 0] +=
                queue.add(id, to: "silent \(id)", for: plugin).count
        }
        #expect(started.values.reduce(0, +) == 24)
        #expect(started.values.allSatisfy { $0 <= 6 })
        for id in 100..<108 { #expect(queue.add(id, to: "api \(id)") == [id]) }
        #expect(queue.add(108, to: "api 108") == [])
        // Built-in providers come first.
        #expect(queue.remove(0) == [108])
    }

    @Test func `a plugin has its share of the connections`() {
        var queue = makeQueue()
        let started = (0..<20).flatMap { queue.add($0, to: "host \($0)", for: "one") }
        #expect(started.count == 6)
        #expect(queue.add(20, to: "host 20", for: "two") == [20])
        #expect(queue.remove(0) == [6])
    }

    @Test func `downloads of a plugin leave connections for its requests`() {
        var queue = makeQueue()
        let started = (0..<20).flatMap {
            queue.add($0, to: "host \($0)", isDownload: true, for: "one")
        }
        #expect(started.count == 4)
        #expect(queue.add(20, to: "host", for: "one") == [20])
    }

    @Test func `plugins leave connections to a host of a built-in provider`() {
        var queue = makeQueue()
        let started = (0..<12).flatMap { queue.add($0, to: "api", for: "plugin \($0 % 2)") }
        #expect(started.count == 6)
        #expect(queue.add(12, to: "api") == [12])
        #expect(queue.add(13, to: "api") == [13])
        #expect(queue.add(14, to: "api") == [])
        #expect(queue.remove(0) == [14])
    }

    @Test func `the plugin with the fewest transfers comes first`() {
        var queue = makeQueue { $0.pluginTransfers = 3 }
        let started = (0..<4).map { queue.add($0, to: "host \($0)", for: "one") }
        #expect(started == [[0], [1], [2], []])
        #expect(queue.add(4, to: "host 4", for: "two") == [])
        #expect(queue.remove(0) == [4])
        #expect(queue.remove(1) == [3])
    }
}
