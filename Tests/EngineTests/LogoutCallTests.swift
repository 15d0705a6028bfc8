import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// Calls in progress when their account is logged out or removed.
@MainActor
@Suite(.timeLimit(.minutes(1)))
struct LogoutCallTests {
    enum Call: CaseIterable {
        case page, photo, sources, refreshFeed, refreshProfile, imageOfUnknownPhoto

        /// The request for which the call waits.
        var request: String {
            switch self {
            case .page, .refreshFeed: "other top"
            case .photo, .imageOfUnknownPhoto: "photo b"
            case .sources: "sources"
            case .refreshProfile: "profile"
            }
        }

        @MainActor func run(_ account: Account) async throws {
            switch self {
            case .page: _ = try await account.page("other", cursor: "", count: 3)
            case .photo: _ = try await account.photo("b")
            case .sources: _ = try await account.sources()
            case .refreshFeed: _ = try await account.refreshFeed("other")
            case .refreshProfile: try await account.refreshProfile()
            case .imageOfUnknownPhoto: _ = try await account.imagePath("b", size: "full")
            }
        }
    }

    enum End: CaseIterable {
        case logOut, remove

        @MainActor func run(_ fixture: ServiceFixture) async throws {
            switch self {
            case .logOut: try await fixture.engine.logOut(fixture.account)
            case .remove: try await fixture.engine.remove(fixture.account)
            }
        }
    }

    private func thrownError(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Call.allCases, End.allCases)
    func `a call in progress ends with the account`(call: Call, end: End) async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        try await fixture.told("profile Ada")
        fixture.service.state.update { $0.held = [call.request] }
        let before = fixture.count(call.request)
        let running = Task { await thrownError { try await call.run(fixture.account) } }
        try await fixture.service.state.wait { state in
            state.requests.count { $0 == call.request } > before ? true : nil
        }
        // The service never answers, and the clock of the time limits stands still.
        try await end.run(fixture)
        let error = try #require(await running.value)
        guard case EngineError.needsLogin = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: End.allCases)
    func `images in progress end with the account`(end: End) async throws {
        let names = ["a", "b", "c"]
        let fixture = try await ServiceFixture(names)
        try await fixture.told("profile Ada")
        _ = try await fixture.page()
        fixture.world.http.answer.update { $0 = { HTTPResponse(status: 200, url: $0.url) } }
        fixture.world.http.isHeld.update { $0 = true }
        let account = fixture.account
        let calls = names.map { name in
            Task { await thrownError { _ = try await account.imagePath(name, size: "full") } }
        }
        _ = try await fixture.world.http.requests.elements(names.count)
        try await end.run(fixture)
        for call in calls {
            let error = try #require(await call.value)
            guard case EngineError.needsLogin = error else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test func `the requests of the calls are cancelled at a logout`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        fixture.service.state.update { $0.held = ["other top"] }
        let account = fixture.account
        let running = Task {
            await thrownError { _ = try await account.page("other", cursor: "", count: 3) }
        }
        try await fixture.service.state.wait { $0.requests.contains("other top") ? true : nil }
        try await fixture.engine.logOut(account)
        _ = await running.value
        try await fixture.service.state.wait { $0.cancelled == ["other top"] ? true : nil }
    }
}
