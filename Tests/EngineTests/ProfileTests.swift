import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// Who the user of an account is: asked for rarely, shown with a picture that is there.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct ProfileTests {
    nonisolated private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0,
    ]

    private func fixture() async throws -> ServiceFixture {
        let fixture = try await ServiceFixture(["a"]) { world in
            world.http.answer.update {
                $0 = { HTTPResponse(status: 200, body: Self.png, url: $0.url) }
            }
        }
        fixture.service.state.update { $0.avatarURL = "https://images.service.test/ada" }
        try await fixture.told("profile Ada")
        return fixture
    }

    @Test func `it is asked for every few minutes at most`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        #expect(fixture.count("profile") == 1)
        for _ in 0..<3 { try await fixture.account.refreshProfileIfStale() }
        #expect(fixture.count("profile") == 1)
        fixture.world.time.update { $0 = $0 + .seconds(181) }
        try await fixture.account.refreshProfileIfStale()
        #expect(fixture.count("profile") == 2)
        // Whoever wants all of it now gets it.
        try await fixture.account.refresh()
        #expect(fixture.count("profile") == 3)
    }

    @Test func `of an account that is logged out nobody is asked`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        try await fixture.engine.logOut(fixture.account)
        await #expect(throws: EngineError.needsLogin("ada is logged out; log in first.")) {
            try await fixture.account.refreshProfileIfStale()
        }
    }

    @Test func `a picture that is gone is not named, and comes back`() async throws {
        let fixture = try await fixture()
        try await fixture.account.refresh()
        let path = fixture.account.profile.avatar
        #expect(access(path, R_OK) == 0)
        unlink(path)
        fixture.engine.checkAvatars()
        fixture.world.clock.advance(by: .seconds(1))
        try await fixture.told("avatar ")
        try await fixture.base.told.wait {
            $0.last { $0.hasPrefix("avatar") } == "avatar \(path)" ? true : nil
        }
        // Without a network a start shows none, and asks for one.
        unlink(path)
        let next = try await ServiceFixture(after: fixture)
        #expect(next.account.profile.avatar == "")
        #expect(next.account.profile.username == "ada")
    }
}
