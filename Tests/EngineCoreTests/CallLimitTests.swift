import EngineModel
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Calls that need a request to the service: each replies within 20 s.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct CallLimitTests {
    private let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture(["a"], isOpen: true)
        // The timers of the first request have ended, so that the later ones can be counted.
        for limit in [Duration.seconds(18), .seconds(3)] {
            try await fixture.ports.clock.waitForSleeps(until: limit, begun: 1, pending: 0)
        }
    }

    /// The number of timers of a limit that were started before the clock was advanced.
    private func timerCount(_ limit: Duration) -> Int {
        fixture.ports.clock.sleepers.value.count { $0.offset == limit }
    }

    /// Waits for a request whose response is held and for the timers of its limits, then advances the clock.
    private func advance(
        _ duration: Duration, _ request: String, _ count: Int, timers: Int
    ) async throws {
        try await fixture.waitForRequests(request, count: count)
        try await fixture.ports.clock.waitForSleeps(until: .seconds(18), begun: timers)
        fixture.ports.clock.advance(by: duration)
    }

    @Test func `Refresh has one limit for the profile and the feed`() async throws {
        fixture.update { $0.held = ["profile", "new top"] }
        // One timer for the call, and one for its request for the profile.
        let timers = timerCount(.seconds(18)) + 2
        let call = Task { try await fixture.account.refresh() }
        try await advance(.seconds(10), "profile", 2, timers: timers)
        fixture.update { $0.held = ["new top"] }
        try await advance(.seconds(8), "new top", 1, timers: timers)
        await expectThrown(ProviderError.failed) { try await call.value }
    }

    @Test func `a refresh of the profile has a limit, and its late result is shown`() async throws {
        fixture.update { $0.held = ["profile"] }
        fixture.ports.time.update { $0 = $0 + .seconds(600) }
        let timers = timerCount(.seconds(18)) + 1
        let call = Task { try await fixture.account.refreshProfileIfStale() }
        try await advance(.seconds(18), "profile", 2, timers: timers)
        await expectThrown(ProviderError.failed) { try await call.value }
        #expect(fixture.account.profileState == .failed)
        // A second call waits for the request in progress.
        let second = Task { try await fixture.account.refreshProfileIfStale() }
        fixture.base.events.update { $0 = [] }
        fixture.update { $0.held = [] }
        try await fixture.waitForEvent("profile Ada")
        try await second.value
        #expect(fixture.count("profile") == 2)
    }

    @Test func `a request for the image of an unknown photo has a limit`() async throws {
        fixture.update { $0.held = ["photo a"] }
        let timers = timerCount(.seconds(18)) + 1
        let call = Task { try await fixture.account.imagePath("a", size: "full") }
        try await advance(.seconds(18), "photo a", 1, timers: timers)
        await expectThrown(ProviderError.failed) { try await call.value }
    }

    @Test func `a request for an image leaves time for the reply`() async throws {
        _ = try? await fixture.account.imagePath("a", size: "full")
        let request = try #require(fixture.ports.http.requests.value.last)
        #expect(request.timeLimit <= .seconds(18))
    }

    @Test func `a slow avatar download does not delay the profile`() async throws {
        fixture.ports.http.respond([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])
        fixture.ports.http.isHeld.update { $0 = true }
        fixture.update { $0.avatarURL = "https://images.service.test/ada" }
        let timers = timerCount(.seconds(3)) + 1
        let call = Task { try await fixture.account.refreshProfile() }
        _ = try await fixture.ports.http.requests.elements(1)
        try await fixture.ports.clock.waitForSleeps(until: .seconds(3), begun: timers)
        fixture.ports.clock.advance(by: .seconds(3))
        try await call.value
        #expect((fixture.account.profileState, fixture.account.profile.avatar) == (.ready, ""))
        fixture.ports.http.isHeld.update { $0 = false }
        try await fixture.base.events.wait { events in
            events.contains { $0.hasPrefix("avatar /") } ? true : nil
        }
        #expect(access(fixture.account.profile.avatar, R_OK) == 0)
    }

    // MARK: Images and the service

    @Test(arguments: [HTTPError.unreachable("no such host"), HTTPError.failed("a reset")])
    func `a failing image host does not affect the service's state`(error: HTTPError) async throws {
        let names = (1...6).map { "\($0)" }
        let fixture = try await ServiceFixture(names, isOpen: true)
        _ = try await fixture.walk(count: 3)
        fixture.ports.http.answer.update { $0 = { _ in throw error } }
        let before = fixture.service.state.value.requests
        fixture.base.states.update { $0 = [] }
        for name in names {
            await #expect(throws: error) { try await fixture.account.imagePath(name, size: "full") }
        }
        let destination = try TransferDestination(duplicating: 1)
        let transfer = try await fixture.account.download("1", into: destination)
        await #expect(throws: error) { try await transfer.wait() }
        #expect((fixture.account.state, fixture.account.retryAt) == (.ready, nil))
        #expect(fixture.base.states.value.allSatisfy { $0 == .ready })
        #expect(fixture.service.state.value.requests == before)
    }

    @Test func `a failing avatar download does not affect the state of the service`() async throws {
        fixture.update { $0.avatarURL = "https://images.service.test/ada" }
        try await fixture.account.refreshProfile()
        _ = fixture.account.profile.avatar
        #expect((fixture.ports.http.requests.value.count, fixture.account.state) == (1, .ready))
        #expect((fixture.account.retryAt, fixture.account.profileState) == (nil, .ready))
    }
}
