import Contract
import DBus
import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import BusService
@testable import EngineCore

/// Tests of the pages of a remote account over the bus: prepared replies, refreshes, and clients that watch sources.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct FreshnessTests {
    private let three = ["p3", "p2", "p1"]
    private let fixture: FeedFixture

    init() async throws { fixture = try await FeedFixture(photos: three) }

    @Test func `a client that reads a page repeatedly gets new photos`() async throws {
        fixture.engine.setRefreshInterval(.zero)
        let client = try fixture.connect()
        #expect(try await client.ids() == three)
        try await client.listen()
        fixture.publish("p4")
        for second in stride(from: 20, through: 700, by: 20) {
            fixture.pass(.seconds(20))
            let ids = try await client.ids()
            if second == 300 { try await client.updates.wait { $0 == ["new 1"] ? true : nil } }
            if second.isMultiple(of: 300) {
                // A refresh that is in progress when the clock advances exceeds its time limit.
                let requests = second / 300 + 1
                try await fixture.waitForRequests(requests)
                try await fixture.waitForRefresh()
            }
            #expect(ids == (second > 300 ? ["p4"] + three : three), "after \(second) s")
        }
        // One for the first read, and one per five minutes.
        #expect(fixture.requestCount == 3)
    }

    @Test func `a refresh removes deleted photos below the top of a prepared page`() async throws {
        fixture.publish("p4")
        fixture.engine.setRefreshInterval(.zero)
        fixture.service.update("ada") { $0.pageSize = 2 }
        let client = try fixture.connect()
        for _ in 0..<3 { #expect(try await client.ids() == ["p4"] + three) }
        try await client.listen()
        fixture.service.update("ada") { $0.photos.removeLast() }
        fixture.pass(.seconds(300))
        #expect(try await client.ids() == ["p4"] + three)
        try await client.updates.wait { $0 == ["new 0"] ? true : nil }
        #expect(try await client.ids() == ["p4", "p3", "p2"])
    }

    @Test func `the first page after Updated is prepared, at any rate limit`() async throws {
        let client = try fixture.connect()
        for _ in 0..<2 { _ = try await client.ids() }
        try await client.listen()
        for number in 1...5 {
            fixture.publish("new\(number)")
            let before = fixture.account.rateLimit
            #expect(try await client.account.refresh("") == 1)
            try await client.updates.wait { $0.count == number ? true : nil }
            #expect(fixture.account.rateLimit != before)
            // The page of this update is made, or being made, before the client requests it.
            let made = try fixture.object.feed.madePageCount
            let ids = try await client.ids()
            #expect(ids.first == "new\(number)")
            #expect(try fixture.object.feed.madePageCount == made)
        }
    }

    @Test func `only a change of the session or of photos discards prepared pages`() async throws {
        let client = try fixture.connect()
        for _ in 0..<2 { _ = try await client.ids() }
        let made = try fixture.object.feed.madePageCount
        for change in [AccountChange.state, .profile, .settings] {
            fixture.busService.handle(.account(fixture.account, .changed(change)))
        }
        _ = try await client.ids()
        #expect(try fixture.object.feed.madePageCount == made)
        fixture.busService.handle(.account(fixture.account, .changed(.likes)))
        _ = try await client.ids()
        #expect(try fixture.object.feed.madePageCount == made + 1)
        fixture.busService.handle(.account(fixture.account, .changed(.session)))
        _ = try await client.ids()
        #expect(try fixture.object.feed.madePageCount == made + 2)
    }

    @Test func `64 clients that read a page after an update share one reply`() async throws {
        let clients = try (0..<64).map { _ in try fixture.connect() }
        for _ in 0..<2 { _ = try await clients[0].ids() }
        let made = try fixture.object.feed.madePageCount
        fixture.busService.handle(
            .account(fixture.account, .updated(SourceID("new"), new: 0)))
        try await withThrowingTaskGroup(of: [String].self) { group in
            for client in clients { group.addTask { try await client.ids() } }
            for try await ids in group { #expect(ids == three) }
        }
        #expect(try fixture.object.feed.madePageCount == made + 1)
        #expect(fixture.requestCount == 1)
        try await fixture.waitForNames(64)
        fixture.publish("p4")
        fixture.pass(.seconds(990))
        try await fixture.waitForRequests(2)
        for client in clients { client.disconnect() }
        try await fixture.waitForNames(0)
    }

    @Test func `a client that only listens gets new photos until it leaves the bus`() async throws {
        let client = try fixture.connect()
        _ = try await client.ids()
        try await client.listen()
        for number in 1...3 {
            fixture.publish("new\(number)")
            fixture.pass(.seconds(990))
            try await client.updates.wait { $0.count == number ? true : nil }
            try await fixture.until { fixture.account.feedWatch.isSettled }
        }
        #expect(fixture.account.feedWatch.isWatched(SourceID("new")))
        let name = try client.connection.uniqueName.text
        #expect(
            try await fixture.watchedNames().count { $0.contains("arg0='\(name)'") } == 1)
        client.disconnect()
        try await fixture.until { !fixture.account.feedWatch.isActive }
        #expect(!fixture.account.feedWatch.isWatched(SourceID("new")))
        try await fixture.waitForNames(0)
        fixture.pass(.seconds(86_400))
        #expect(fixture.requestCount == 4)
    }

    @Test(.timeLimit(.minutes(10))) func `a client that leaves immediately watches nothing`()
        async throws
    {
        for _ in 0..<5 {
            let client = try fixture.connect()
            try client.connection.send(
                try BusMessage(
                    .methodCall(ServiceName.bus, client.account.path, .feed, "GetPage"), "", "",
                    UInt32(3)))
            _ = try await client.connection.owner(of: ServiceName.bus)
            client.disconnect()
        }
        let last = try fixture.connect()
        _ = try await last.ids()
        last.disconnect()
        try await fixture.until { !fixture.account.feedWatch.isActive }
        try await fixture.waitForNames(0)
    }

    @Test func `a failed read does not watch the source`() async throws {
        let client = try fixture.connect()
        await #expect(throws: BusError.self) {
            _ = try await client.account.page("new", cursor: "", count: 101)
        }
        #expect(!fixture.account.feedWatch.isWatched(SourceID("new")))
        _ = try await client.ids("topic")
        #expect(fixture.account.feedWatch.isWatched(SourceID("topic")))
    }
}
