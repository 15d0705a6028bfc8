import Contract
import DBus
import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import BusService
@testable import EngineCore
@testable import Services

/// The combined account over the bus.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct CombinedObjectTests {
    private let service = FakeService()

    /// Starts the daemon with one account for each user, whose photos are the newest first, and a client.
    private func start(
        _ users: KeyValuePairs<String, [(id: String, created: Int64)]>, listens: Bool = false
    ) async throws -> (BusFixture, ListeningClient) {
        for (user, photos) in users { service.update(user) { $0.photos = photos } }
        let fixture = try await BusFixture(users.map { $0.key }, service)
        let client = try ListeningClient()
        if listens { try await client.listen() }
        return (fixture, client)
    }

    // MARK: Object

    @Test func `the combined account exists while an account is logged in`() async throws {
        let (fixture, client) = try await start(["ada": [], "bob": []])
        let services = ServiceClient(try client.connection)
        let interfaces = try #require(try await services.objects()[ServiceName.combined])
        #expect(
            interfaces.keys.filter { $0.hasPrefix("org.imagefeed") }.sorted() == [
                "org.imagefeed.ImageFeed1.Combined", "org.imagefeed.ImageFeed1.Feed",
                "org.imagefeed.ImageFeed1.Like",
            ])
        #expect(try await client.property(.feed, "DefaultSource").string == "all")
        #expect(try await client.property(.combined, "Version").uint32 == 1)
        let removed = Observed<[ObjectPath]>()
        let subscription = try await client.connection.subscribe(
            MatchRule(sender: ServiceName.bus, path: ServiceName.root, member: "InterfacesRemoved")
        ) { signal in
            guard let (path, _): (ObjectPath, [String]) = try? signal.read() else { return }
            removed.append(path)
        }
        _ = try await client.connection.owner(of: ServiceName.bus)
        try await fixture.engine.accounts.logOut(fixture.account("ada"))
        #expect(try await services.objects()[ServiceName.combined] != nil)
        try await fixture.engine.accounts.remove(fixture.account("bob"))
        #expect(try await services.objects()[ServiceName.combined] == nil)
        try await removed.wait { $0.contains(ServiceName.combined) ? true : nil }
        _ = subscription
    }

    @Test func `the sources are all accounts, likes, and memories if they exist`() async throws {
        let (fixture, client) = try await start(["ada": [("a1", 50)]])
        #expect(try await client.account.like("service_ada/a1") == .done)
        try await fixture.until { fixture.engine.combined.likeCount == 1 }
        #expect(
            try await client.account.sources() == [
                source("all", "All accounts", .feed),
                source("likes", "Liked photos", .likes, count: 1),
            ])
        fixture.engine.stop()
        let next = FakeService(capabilities: [.feed, .like, .memories])
        let later = try await BusFixture(["ada"], next)
        #expect(
            try await client.account.sources() == [
                source("all", "All accounts", .feed),
                source("likes", "Liked photos", .likes, count: 0),
                source("memories", "Memories", .feed),
            ])
        withExtendedLifetime(later) {}
    }

    private func source(
        _ id: String, _ title: String, _ kind: Source.Kind, count: Int? = nil
    ) -> Source {
        Source(id: SourceID(id), title: title, kind: kind, count: count)
    }

    // MARK: Pages

    @Test func `a walk merges the accounts and survives a restart of the daemon`() async throws {
        let (fixture, client) = try await start(
            ["ada": [("a1", 50), ("a2", 30)], "bob": [("b1", 40), ("b2", 20)]])
        let (first, cursor) = try await client.page(count: 3)
        #expect(first == ["service_ada/a1", "service_bob/b1", "service_ada/a2"])
        fixture.engine.stop()
        service.update("ada") { $0.photos.insert((id: "a0", created: 90), at: 0) }
        let next = try await BusFixture(["ada", "bob"], service, after: fixture.directory)
        #expect(try await client.page(cursor) == (ids: ["service_bob/b2"], next: ""))
        let photo = try await client.account.page("", cursor: "", count: 1).photos[0]
        #expect(photo["id"]?.string == "service_ada/a1")
        #expect(photo["account"]?.objectPath == (try next.account("ada")).path)
        #expect(photo["created"]?.int64 == 50)
        await #expect(throws: BusError.self) { _ = try await client.page("x") }
        await #expect(throws: BusError.self) { _ = try await client.page(cursor, source: "likes") }
        await #expect(throws: BusError.self) { _ = try await client.page(source: "new") }
        await #expect(throws: BusError.self) { _ = try await client.page(count: 101) }
    }

    @Test func `a page takes two seconds at most, Incomplete lists the others`() async throws {
        let users = ["fine", "held", "limited", "locked", "offline"]
        for user in users {
            service.update(user) { $0.photos = [("\(user)1", 10), ("\(user)2", 5)] }
        }
        service.update("held") { $0.isHeld = true }
        service.update("offline") { $0.error = HTTPError.unreachable("It cannot be reached.") }
        service.update("limited") { $0.error = ProviderError.rateLimited(until: nil) }
        service.update("locked") { $0.error = SecretStoreError.locked("It is locked.") }
        let fixture = try await BusFixture(users, service)
        let client = try ListeningClient()
        try await client.listen()
        async let page = client.page(count: 1)
        try await service.users.wait { $0.values.allSatisfy { !$0.requests.isEmpty } ? true : nil }
        try await fixture.clock.waitForSleeps(
            until: .milliseconds(1_800), begun: users.count, pending: 1)
        fixture.clock.advance(by: .seconds(2))
        let (ids, cursor) = try await page
        #expect(ids == ["service_fine/fine1"])
        try await client.wait(for: "property Incomplete")
        let missing = try ["held", "limited", "locked", "offline"].map {
            try fixture.account($0).path
        }
        #expect(fixture.engine.combined.incomplete.map(\.path) == missing)
        #expect(
            try await client.property(.combined, "Incomplete")
                == .array(missing.map { .objectPath($0) }, of: "o"))
        // The next page does not wait for the account again as long as it does not respond.
        async let second = client.page(cursor, count: 1)
        try await fixture.clock.waitForSleeps(until: .milliseconds(2_100), begun: 1, pending: 1)
        fixture.clock.advance(by: .milliseconds(100))
        #expect(try await second == (ids: ["service_fine/fine2"], next: ""))
        for user in users {
            service.update(user) {
                $0.isHeld = false
                $0.error = nil
            }
        }
        // The accounts contribute when they can. The response to the held request fills the cache.
        try await client.wait(for: "updated all 2")
        #expect(try await client.page(cursor).ids.contains("service_held/held1"))
    }

    @Test func `an account that fails contributes its cache`() async throws {
        let (fixture, client) = try await start(
            ["ada": [("a1", 50), ("a2", 30)], "bob": [("b1", 40)]])
        let ids = ["service_ada/a1", "service_bob/b1", "service_ada/a2"]
        #expect(try await client.page().ids == ids)
        service.update("ada") { $0.error = HTTPError.unreachable("It cannot be reached.") }
        service.update("bob") { $0.isHeld = true }
        fixture.time.update { $0 = $0 + .seconds(600) }
        #expect(try await client.page(count: 9).ids == ids)
        #expect(try await client.property(.combined, "Incomplete") == .array([], of: "o"))
    }

    @Test func `equal first pages share one reply until an account changes`() async throws {
        let (fixture, client) = try await start(
            ["ada": [("a1", 50)], "bob": [("b1", 40)]], listens: true)
        for _ in 0..<3 { _ = try await client.page() }
        let made = try fixture.combined.feed.madePageCount
        for _ in 0..<5 { _ = try await client.page() }
        #expect(try fixture.combined.feed.madePageCount == made)
        service.update("bob") { $0.photos.insert((id: "b0", created: 60), at: 0) }
        #expect(try await fixture.engine.combined.refreshFeed("") == 1)
        try await client.wait(for: "updated all 1")
        #expect(
            try await client.page().ids == ["service_bob/b0", "service_ada/a1", "service_bob/b1"])
    }

    @Test func `a first page watches the source of each account`() async throws {
        let (fixture, client) = try await start(["ada": [("a1", 50)], "bob": [("b1", 40)]])
        _ = try await client.page()
        for user in ["ada", "bob"] {
            #expect(try fixture.account(user).feedWatch.isWatched(SourceID("new")))
            #expect(try !fixture.account(user).feedWatch.isWatched(SourceID("likes")))
        }
        _ = try await client.page(source: "likes")
        #expect(try fixture.account("bob").feedWatch.isWatched(SourceID("likes")))
    }

    // MARK: Signals and likes

    @Test func `likes and signals have the IDs of the combined account`() async throws {
        let (fixture, client) = try await start(
            ["ada": [("a1", 50)], "bob": [("x/y", 40)]], listens: true)
        _ = try await client.page()
        #expect(try await client.account.like("service_bob/x/y") == .done)
        try await client.wait(for: "changed service_bob/x/y true")
        try await client.wait(for: "like service_bob/x/y true 1")
        #expect(try await client.account.like("service_ada/a1") == .done)
        try await fixture.until { fixture.engine.combined.likeCount == 2 }
        #expect(try await client.property(.like, "Count").uint32 == 2)
        #expect(
            try await client.page(source: "likes").ids.sorted() == [
                "service_ada/a1", "service_bob/x/y",
            ])
        service.update("ada") { $0.error = HTTPError.unreachable("It cannot be reached.") }
        #expect(try await client.account.unlike("service_ada/a1") == .queued)
        #expect(try await client.property(.like, "Pending").strings == ["service_ada/a1"])
        try await client.wait(for: "property Pending")
        service.update("bob") { $0.likeError = ProviderError.refused("Not this one.") }
        await #expect(throws: BusError.self) {
            _ = try await client.account.unlike("service_bob/x/y")
        }
        try await client.wait(
            for: "failed service_bob/x/y false org.imagefeed.ImageFeed1.Error.ServiceFailed")
        let removed = AccountEvent.photosRemoved([PhotoID("x/y")])
        fixture.busService.handle(.account(try fixture.account("bob"), removed))
        try await client.wait(for: "removed [\"service_bob/x/y\"]")
        #expect(try await client.account.toggleLike("service_ada/a1").liked)
        await #expect(throws: BusError.self) { _ = try await client.account.like("a1") }
    }

    @Test func `simultaneous updates of several accounts are announced once`() async throws {
        let (fixture, client) = try await start(["ada": [("a1", 50)], "bob": []], listens: true)
        for (user, new) in [("ada", 1), ("bob", 2)] {
            let update = AccountEvent.updated(SourceID("new"), new: new)
            fixture.busService.handle(.account(try fixture.account(user), update))
        }
        try await client.wait(for: "updated all 3")
        let later = AccountEvent.updated(SourceID("new"), new: 4)
        fixture.busService.handle(.account(try fixture.account("ada"), later))
        try await client.wait(for: "updated all 4")
        let updates = client.signals.value.filter { $0.hasPrefix("updated") }
        #expect(updates == ["updated all 3", "updated all 4"])
    }

    @Test func `a logout and an update at the same time are announced once`() async throws {
        let (fixture, client) = try await start(["ada": [], "bob": []], listens: true)
        let ada = try fixture.account("ada")
        let observer = SessionObserver { [engine = fixture.engine] in
            engine.emit(.account(ada, .updated(SourceID("likes"), new: 2)))
        }
        fixture.engine.addObserver(observer)
        try await fixture.engine.accounts.logOut(fixture.account("bob"))
        try await client.wait(for: "updated likes 2")
        #expect(!client.signals.value.contains("updated likes 0"))
        withExtendedLifetime(observer) {}
    }

    @Test func `a refused like of a missing photo has its combined ID`() async throws {
        let (fixture, client) = try await start(["bob": [("x/y", 40)]], listens: true)
        _ = try await client.page()
        service.update("bob") {
            $0.photos = []
            $0.likeError = ProviderError.notFound("There is no such like.")
        }
        await #expect(throws: BusError.self) {
            _ = try await client.account.like("service_bob/x/y")
        }
        try await client.wait(for: "failed: There is no photo \"service_bob/x/y\".")
        withExtendedLifetime(fixture) {}
    }

    @Test func `logouts and other default sources are announced as updates`() async throws {
        let (fixture, client) = try await start(["ada": [("a1", 50)], "bob": [("b1", 40)]])
        #expect(try await client.page().ids.count == 2)
        #expect(try await client.page().ids.count == 2)
        try await client.listen()
        try await fixture.engine.accounts.logOut(fixture.account("bob"))
        try await client.wait(for: "updated all 0")
        try await client.wait(for: "updated likes 0")
        #expect(try await client.page().ids == ["service_ada/a1"])
        client.signals.update { $0 = [] }
        try await fixture.account("ada").setDefaultSource(SourceID("topic"))
        try await client.wait(for: "updated all 0")
        try await client.account.setDefaultSource("likes")
        try await client.wait(for: "property DefaultSource")
        #expect(!client.signals.value.contains("updated likes 0"))
        #expect(try await client.page().ids == [])
        await #expect(throws: BusError.self) {
            try await client.account.setDefaultSource("memories")
        }
    }
}

/// An observer of logins and logouts.
@MainActor
private final class SessionObserver: EngineObserver {
    private let onChange: () -> Void

    init(_ onChange: @escaping () -> Void) { self.onChange = onChange }

    func handle(_ event: EngineEvent) {
        if case .account(_, .changed(.session)) = event { onChange() }
    }
}
