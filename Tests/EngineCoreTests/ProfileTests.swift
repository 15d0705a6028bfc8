import EngineModel
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// The profile of an account and its avatar file.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ProfileTests {
    nonisolated private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0,
    ]

    private func fixture() async throws -> ServiceFixture {
        let fixture = try await ServiceFixture(["a"]) { $0.http.respond(Self.png) }
        fixture.update { $0.avatarURL = "https://images.service.test/ada" }
        try await fixture.waitForEvent("profile Ada")
        return fixture
    }

    @Test func `a profile is fetched at most every three minutes`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        #expect(fixture.count("profile") == 1)
        for _ in 0..<3 { try await fixture.account.refreshProfileIfStale() }
        #expect(fixture.count("profile") == 1)
        fixture.ports.time.update { $0 = $0 + .seconds(181) }
        try await fixture.account.refreshProfileIfStale()
        #expect(fixture.count("profile") == 2)
        // A refresh by a client fetches it at once.
        try await fixture.account.refresh()
        #expect(fixture.count("profile") == 3)
    }

    @Test func `a profile of a logged-out account is not fetched`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        try await fixture.engine.accounts.logOut(fixture.account)
        await #expect(throws: EngineError.needsLogin("ada is logged out; log in first.")) {
            try await fixture.account.refreshProfileIfStale()
        }
    }

    @Test func `a deleted avatar file is not named, and is fetched again`() async throws {
        let fixture = try await fixture()
        try await fixture.account.refresh()
        let path = fixture.account.profile.avatar
        #expect(access(path, R_OK) == 0)
        unlink(path)
        let before = fixture.base.events.value.count
        fixture.engine.checkAvatars()
        try await fixture.ports.clock.endSleep(at: .seconds(1))
        try await fixture.base.events.wait { events in
            let avatars = events.dropFirst(before).filter { $0.hasPrefix("avatar") }
            return avatars.contains("avatar ") && avatars.last == "avatar \(path)" ? true : nil
        }
        // After a start, the avatar is missing until it is fetched.
        unlink(path)
        let next = try await ServiceFixture(after: fixture)
        #expect((next.account.profile.avatar, next.account.profile.username) == ("", "ada"))
    }
}
