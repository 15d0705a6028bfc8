import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Calls in progress when their account is logged out or removed.
@MainActor
@Suite(.timeLimit(.minutes(10)))
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
            case .logOut: try await fixture.engine.accounts.logOut(fixture.account)
            case .remove: try await fixture.engine.accounts.remove(fixture.account)
            }
        }
    }

    /// The outcomes of calls: the name of the error, or `none`.
    private let outcomes = Observed<[String]>()

    private func start(_ body: @escaping @MainActor () async throws -> Void) {
        Task {
            do {
                try await body()
                outcomes.append("none")
            } catch EngineError.needsLogin {
                outcomes.append("needsLogin")
            } catch {
                outcomes.append("\(error)")
            }
        }
    }

    @Test(arguments: Call.allCases, End.allCases)
    func `a call in progress ends with the account`(call: Call, end: End) async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true)
        fixture.update { $0.held = [call.request] }
        let before = fixture.count(call.request)
        start { try await call.run(fixture.account) }
        try await fixture.waitForRequests(call.request, count: before + 1)
        // The service never responds, and the clock of the time limits does not advance.
        try await end.run(fixture)
        #expect(try await outcomes.elements(1) == ["needsLogin"])
    }

    @Test(arguments: End.allCases)
    func `images in progress end with the account`(end: End) async throws {
        let names = ["a", "b", "c"]
        let fixture = try await ServiceFixture(names, isOpen: true, isRead: true)
        fixture.ports.http.respond()
        fixture.ports.http.isHeld.update { $0 = true }
        let account = fixture.account
        for name in names { start { _ = try await account.imagePath(name, size: "full") } }
        _ = try await fixture.ports.http.requests.elements(names.count)
        try await end.run(fixture)
        let count = names.count
        #expect(try await outcomes.elements(count) == .init(repeating: "needsLogin", count: count))
    }

    @Test func `the requests of the calls are cancelled at a logout`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.update { $0.held = ["other top"] }
        let account = fixture.account
        start { _ = try await account.page("other", cursor: "", count: 3) }
        try await fixture.service.state.wait { $0.requests.contains("other top") ? true : nil }
        try await fixture.engine.accounts.logOut(account)
        #expect(try await outcomes.elements(1) == ["needsLogin"])
        try await fixture.service.state.wait { $0.cancelled.isEmpty ? nil : true }
        #expect(fixture.service.state.value.cancelled == ["other top"])
    }
}
