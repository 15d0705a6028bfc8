import EngineModel
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import EngineCore
@testable import Feeds
@testable import Services

/// Reactions to changes of the network status, the clock and the power state.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct NetworkTests {
    @Test func `a metered network stops background refreshes`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        _ = try await fixture.account.sources()
        let hour = Duration.seconds(3601)
        fixture.ports.time.update { $0 = $0 + hour }
        fixture.engine.isMetered = true
        #expect(try await fixture.page().ids == ["a"])
        _ = try await fixture.account.sources()
        // Requests of clients are sent.
        _ = try await fixture.page("other")
        #expect((fixture.count("new top"), fixture.count("sources")) == (1, 1))
        _ = try await fixture.account.refreshFeed("new")
        #expect(fixture.count("new top") == 2)
        #expect(try await fixture.account.setLiked("a", true) == .done)
        // On an unmetered network, background refreshes continue.
        fixture.engine.isMetered = false
        fixture.ports.time.update { $0 = $0 + hour }
        _ = try await fixture.page()
        try await fixture.waitForRequests("new top", count: 3)
    }

    /// Likes the photo `a` while the service limits requests for 600 seconds. Later requests are accepted.
    ///
    /// - Returns: The end of the limit.
    private func queueLike(_ fixture: ServiceFixture) async throws -> Timestamp {
        let until = fixture.ports.time.value + .seconds(600)
        fixture.update { $0.error = ProviderError.rateLimited(until: until) }
        _ = try? await fixture.account.refreshFeed("")
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        fixture.update { $0.error = nil }
        return until
    }

    @Test func `a clock that is set back does not extend a rate limit`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        _ = try await queueLike(fixture)
        // Ten hours: by the wall clock, the limit would hold that much longer.
        fixture.ports.time.update { $0 = $0 + .seconds(-36_000) }
        // Another like is another reason for a retry.
        #expect(try await fixture.account.setLiked("b", true) == .queued)
        try await fixture.ports.clock.endSleep(at: .seconds(600))
        try await fixture.waitForEvent("liked a 1")
        #expect(fixture.account.state == .ready)
    }

    @Test func `a clock that is set back a year does not stop retries`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.disconnect()
        _ = try? await fixture.account.refreshFeed("")
        let before = fixture.count("profile")
        try await fixture.waitForRetryTimer()
        fixture.ports.time.update { $0 = $0 + .seconds(-365 * 86_400) }
        fixture.update { $0.error = nil }
        fixture.ports.clock.advance(by: .seconds(6))
        try await fixture.state { $0 == .ready }
        #expect(fixture.count("profile") == before + 1)
    }

    @Test func `a resume continues waiting work at once`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        let until = try await queueLike(fixture)
        // A short suspension changes nothing.
        fixture.engine.resumed()
        #expect(fixture.account.state == .rateLimited(until: until))
        #expect(fixture.account.retryAt == until)
        // The timer of the pause has not counted the suspension.
        fixture.ports.time.update { $0 = $0 + .seconds(601) }
        fixture.engine.resumed()
        try await fixture.waitForEvent("liked a 1")
        #expect((fixture.account.state, fixture.account.retryAt) == (.ready, nil))
    }

    // MARK: Several accounts of one host

    private let target = "service https://api.service.test"

    @Test func `a provider at the host of another one does not affect it`() async throws {
        let directory = try TemporaryDirectory()
        let services = [FakeService(), FakeService("other")]
        try await EngineFixture.makeStore(services.map(\.info.id), in: directory)
        let fixture = try EngineFixture(directory, providers: services)
        for service in services { try await fixture.configure(service.info.id) }
        fixture.engine.start()
        let accounts = fixture.engine.accounts.all
        try #require(accounts.map(\.provider.info.id) == services.map(\.info.id))
        for service in services {
            try await service.state.wait { $0.requests.contains("profile") ? true : nil }
        }
        for (service, account) in zip(services, accounts) {
            service.state.update { $0.error = HTTPError.unreachable("no network") }
            _ = try? await account.refreshFeed("")
            #expect(account.state != .ready)
        }
        services[0].state.update { $0.error = nil }
        let requests = services[1].state.value.requests.count
        services[1].state.update { $0.held = ["profile"] }
        let otherProbe = Task { await accounts[1].remote?.probe() }
        try await services[1].state.wait { $0.requests.count > requests ? true : nil }
        let probe = Task.immediate { await accounts[0].remote?.probe() }
        services[1].state.update { $0.held = [] }
        await otherProbe.value
        await probe.value
        #expect(accounts[0].state == .ready)
        #expect(accounts[1].state != .ready)
    }

    @Test func `accounts of an unreachable host share one probe`() async throws {
        let probes = HostProbes()
        let (probeCount, isOpen) = (Observed(0), Observed(false))
        let outcomes = (0..<5).map { _ in
            Task {
                await probes.probe(target) {
                    probeCount.update { $0 += 1 }
                    _ = try? await isOpen.wait { $0 ? true : nil }
                    return .unreachable("no such host")
                }
            }
        }
        try await probeCount.wait { $0 == 1 ? true : nil }
        // Another host is not affected.
        #expect(
            await probes.probe("service https://other.test") {
                .available
            } == .available)
        isOpen.update { $0 = true }
        for outcome in outcomes { #expect(await outcome.value == .unreachable("no such host")) }
        #expect(probeCount.value == 1)
    }

    @Test func `accounts of a reachable host probe it one after the other`() async throws {
        let probes = HostProbes()
        let (running, most) = (Observed(0), Observed(0))
        let outcomes = (0..<5).map { _ in
            Task {
                await probes.probe(target) {
                    running.update { $0 += 1 }
                    most.update { $0 = max($0, running.value) }
                    await Task.yield()
                    running.update { $0 -= 1 }
                    return .available
                }
            }
        }
        for outcome in outcomes { #expect(await outcome.value == .available) }
        #expect(most.value == 1)
    }
}

@Suite struct ServiceHealthTests {
    private let now = Timestamp(secondsSince1970: 1_800_000_000)

    @Test func `a rate limit ends within a day for every end time and clock`() {
        var health = ServiceHealth()
        health.record(.rateLimited(until: Timestamp(secondsSince1970: .max)), now: now)
        #expect(health.problem(now: now) == .rateLimited(until: now + .seconds(86_400)))
        #expect(health.problem(now: now + .seconds(86_400)) == nil)
        // The clock was a month ahead.
        #expect(health.problem(now: now + .seconds(-30 * 86_400)) == nil)
    }

    @Test func `requests of callers do not make the pause longer, and retries double it`() {
        var health = ServiceHealth()
        for _ in 0..<5 { health.record(.failed("503"), now: now) }
        #expect(health.pause(jitter: 0.5) == .seconds(5))
        health.recordRetry()
        #expect(health.pause(jitter: 0.5) == .seconds(10))
        // Other requests succeed while likes wait.
        health.setWaitingLikes(true)
        health.record(.available, now: now)
        #expect(health.pause(jitter: 0.5) == .seconds(10))
        #expect(health.wantsRetry && !health.hasFailed)
        health.setWaitingLikes(false)
        health.record(.unreachable("no network"), now: now)
        for _ in 0..<20 { health.recordRetry() }
        #expect(health.pause(jitter: 0) == .seconds(720))
        #expect(health.pause(jitter: 1) == .seconds(1080))
    }

    @Test func `a full disk does not count as a failure of the service`() {
        #expect(ServiceHealth.Verdict(HTTPError.cannotWrite(28)) == .none)
    }
}

@Suite(.timeLimit(.minutes(10))) @MainActor
struct DiskWatchTests {
    @Test func `the watch reports a full disk and the end of that state`() async throws {
        let directory = try TemporaryDirectory()
        let disk = DiskWatch(folder: directory.path)
        var reports: [Bool] = []
        disk.onChange = { reports.append($0) }
        let store = FeedStore(
            Store(directory.appending("cache/cache.sqlite"), .disposable, [FeedStore.format]),
            disk: disk)
        let account = AccountID(stored: "service_ada")
        try await store.run(account) { _ in }
        #expect(reports == [])
        await #expect(throws: StorageError.full) {
            try await store.run(account) { _ in throw StorageError.full }
        }
        #expect(reports == [true])
        try await store.run(account) { _ in }
        #expect(reports == [true, false])
    }
}
