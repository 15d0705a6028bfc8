import EngineModel
import TestSupport
import Testing

@testable import EngineCore

/// Calls in progress when their account is logged out or removed.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct LogoutCallTests {
    private typealias Run = @MainActor (Account) async throws -> Void

    /// The calls, each with the request for which it waits.
    private nonisolated static let calls: [(request: String, run: Run)] = [
        ("other top", { _ = try await $0.page("other", cursor: "", count: 3) }),
        ("photo b", { _ = try await $0.photo("b") }),
        ("sources", { _ = try await $0.sources() }),
        ("other top", { _ = try await $0.refreshFeed("other") }),
        ("profile", { try await $0.refreshProfile() }),
        ("photo b", { _ = try await $0.imagePath("b", size: "full") }),
    ]

    private func expectNeedsLogin(_ call: Task<Void, any Error>) async {
        await #expect { try await call.value } throws: { error in
            if case EngineError.needsLogin = error { true } else { false }
        }
    }

    @Test(arguments: calls.indices, [false, true])
    func `a call in progress ends with the account`(index: Int, isRemoval: Bool) async throws {
        let call = Self.calls[index]
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true)
        fixture.update { $0.held = [call.request] }
        let before = fixture.count(call.request)
        let task = Task { try await call.run(fixture.account) }
        try await fixture.waitForRequests(call.request, count: before + 1)
        // The service never responds, and the clock of the time limits does not advance.
        try await fixture.engine.accounts.end(fixture.account, isRemoval: isRemoval)
        await expectNeedsLogin(task)
    }

    @Test(arguments: [false, true])
    func `images in progress end with the account`(isRemoval: Bool) async throws {
        let names = ["a", "b", "c"]
        let fixture = try await ServiceFixture(names, isOpen: true, isRead: true)
        fixture.ports.http.respond()
        fixture.ports.http.isHeld.update { $0 = true }
        let account = fixture.account
        let tasks = names.map { name in
            Task { _ = try await account.imagePath(name, size: "full") }
        }
        _ = try await fixture.ports.http.requests.elements(names.count)
        try await fixture.engine.accounts.end(account, isRemoval: isRemoval)
        for task in tasks { await expectNeedsLogin(task) }
    }

    @Test func `the requests of the calls are cancelled at a logout`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.update { $0.held = ["other top"] }
        let account = fixture.account
        let task = Task { _ = try await account.page("other", cursor: "", count: 3) }
        try await fixture.service.state.wait { $0.requests.contains("other top") ? true : nil }
        try await fixture.engine.accounts.logOut(account)
        await expectNeedsLogin(task)
        try await fixture.service.state.wait { $0.cancelled.isEmpty ? nil : true }
        #expect(fixture.service.state.value.cancelled == ["other top"])
    }
}
