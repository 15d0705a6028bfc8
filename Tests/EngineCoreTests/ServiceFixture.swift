import EngineModel
import Feeds
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// A logged-in account of a remote service, from a prepared store and a stored token.
@MainActor
final class ServiceFixture {
    let base: EngineFixture
    let service: FakeService
    let account: Account
    var ports: FakePorts { base.ports }
    var engine: Engine { base.engine }
    /// The file of the feed cache.
    var feedFile: String { base.directory.appending("cache/cache.sqlite") }

    /// - Parameters:
    ///   - photos: The photos of the service, newest first.
    ///   - previous: The fixture whose store and service are used again.
    ///   - isOpen: True to wait until the profile was fetched.
    ///   - isRead: True to read the first page, as a client does.
    ///   - prepare: Runs before the engine starts.
    /// - Throws: An error of the store.
    init(
        _ photos: [String] = [], after previous: ServiceFixture? = nil, isOpen: Bool = false,
        isRead: Bool = false, prepare: (FakePorts) -> Void = { _ in }
    ) async throws {
        let directory = try previous?.base.directory ?? TemporaryDirectory()
        service = previous?.service ?? FakeService()
        if previous == nil {
            service.state.update { $0.photos = photos }
            try await EngineFixture.makeStore(["service"], in: directory)
        } else {
            previous?.engine.stop()
        }
        base = try EngineFixture(directory, providers: [service])
        try await base.configure("service")
        prepare(base.ports)
        account = try #require(base.engine.accounts.all.first)
        base.engine.start()
        if isOpen { try await waitForEvent("profile Ada") }
        if isRead { _ = try await page() }
    }

    /// Changes the state of the service.
    func update(_ change: (inout FakeService.State) -> Void) { service.state.update(change) }

    /// Makes all requests to the service fail, as without a network.
    func disconnect() { update { $0.error = HTTPError.unreachable("no network") } }

    /// Lets requests to the service succeed, changes its state, and retries what failed.
    func reconnect(_ change: (inout FakeService.State) -> Void = { _ in }) {
        update { state in
            state.error = nil
            change(&state)
        }
        engine.retryNow()
    }

    /// Logs the account in with another token.
    func logInAgain() async throws {
        _ = try await engine.logins.completeLogin(
            account.identity, service, with: ports.token("new")
        ) { true }
    }

    /// Likes the photo `a`. The service responds when the test ends `isHeld`.
    func holdLike() async throws -> Task<LikeOutcome, any Error> {
        service.state.update { $0.isHeld = true }
        let like = Task { try await account.setLiked("a", true) }
        try await service.state.wait { $0.requests.contains("like a") ? true : nil }
        return like
    }

    /// Waits until the account's state meets a condition.
    func state(_ condition: @escaping @Sendable (AccountState) -> Bool) async throws {
        base.states.append(account.state)
        try await base.states.wait { $0.last.map(condition) == true ? true : nil }
    }

    /// Waits until the timer of the next retry runs. Necessary before the clock is advanced.
    func waitForRetryTimer() async throws {
        let retryAt = try #require(account.retryAt).secondsSince1970
        let pause = Duration.seconds(retryAt - ports.time.value.secondsSince1970)
        // The time of the retry is rounded down to seconds.
        let first = ports.clock.now.offset + pause
        try await ports.clock.waitForSleep(in: first..<first + .seconds(1))
    }

    /// Waits for an event, in the format of ``EngineFixture/events``.
    func waitForEvent(_ event: String) async throws {
        try await base.events.wait { $0.contains(event) ? true : nil }
    }

    /// Fetches a page, and returns its photo IDs and the cursor of the next page.
    func page(
        _ source: String = "", _ cursor: String = "", count: Int = 3
    ) async throws -> (ids: [String], next: String) {
        let (photos, next) = try await account.page(source, cursor: cursor, count: count)
        return (photos.map(\.id.text), next)
    }

    /// Returns all photos of a source after a cursor, from pages of `count`.
    func walk(
        _ source: String = "", from start: String = "", count: Int = 2
    ) async throws -> [String] {
        var found: [String] = []
        var cursor = start
        repeat {
            let (ids, next) = try await page(source, cursor, count: count)
            found += ids
            cursor = next
        } while !cursor.isEmpty
        return found
    }

    /// Waits until the service has got a request `count` times.
    func waitForRequests(_ request: String, count: Int) async throws {
        try await service.state.wait { state in
            state.requests.count { $0 == request } == count ? true : nil
        }
    }

    /// Makes the feed cache refuse to change photos, as on a full disk.
    func fillCacheDisk() throws {
        try executeInCache(
            """
            CREATE TRIGGER refuse BEFORE UPDATE ON photo BEGIN SELECT RAISE(ABORT, 'no'); END;
            CREATE TRIGGER refuse_new BEFORE INSERT ON photo BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
    }

    func emptyCacheDisk() throws {
        try executeInCache("DROP TRIGGER refuse; DROP TRIGGER refuse_new")
    }

    /// Executes SQL in the feed cache.
    func executeInCache(_ sql: String) throws {
        try engine.stores.feeds.store.runAndWait { try $0.execute(sql) }
    }

    /// Returns the number of rows of a table of the feed cache, with a condition or without one.
    func feedRows(_ table: String) throws -> Int64? {
        try engine.stores.feeds.store.runAndWait { try $0.integer("SELECT count(*) FROM \(table)") }
    }

    /// Returns the number of equal requests to the service.
    func count(_ request: String) -> Int { service.state.value.requests.count { $0 == request } }
}
