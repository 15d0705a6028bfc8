import Contract
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of logins, tokens and walks through a feed that changes meanwhile.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashTests {
    @Test func `a token that is renewed during the logout is revoked`() async throws {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.advanceClock(seconds: 7300)
        // The service has issued the token, and its response arrives after the logout.
        let isIssued = Observed(false)
        let gate = Gate()
        defer { gate.open() }
        fixture.unsplash.fail(
            "POST /oauth/token",
            .changed { _ in
                isIssued.update { $0 = true }
                gate.wait()
            }, times: 1)
        async let failure = errorReply { _ = try await ada.refresh("") }
        try await isIssued.wait { $0 ? true : nil }
        try await ada.logout()
        gate.open()
        #expect(await failure != nil)
        let revoked = try await fixture.unsplash.waitForRequests("POST /oauth/revoke", count: 4)
        #expect(Set(revoked.compactMap { $0.fields["token"] }).count == 4)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
    }

    @Test func `a walk is complete while 100 photos are added and 20 deleted`() async throws {
        let fixture = try await UnsplashFixture(photoCount: 600)
        fixture.unsplash.settings.requestsPerHour = 100_000
        let ada = try await fixture.logIn("ada")
        let before = fixture.unsplash.feed
        var (arrivals, vanished): (Int, Set<String>) = (0, [])
        let found = try await fixture.walk(ada) {
            for _ in 0..<min(7, 100 - arrivals) {
                fixture.unsplash.publish()
                arrivals += 1
            }
            // Delete photos from all parts: shown ones and others.
            let step = vanished.count * 467 % before.count
            for index in [step, (step + 299) % before.count] where vanished.count < 20 {
                guard vanished.insert(before[index].id).inserted else { continue }
                fixture.unsplash.delete(before[index].id)
            }
            if arrivals % 5 == 0 { _ = try await ada.refresh("") }
        }
        #expect(arrivals == 100 && vanished.count == 20)
        #expect(found.count == Set(found).count)
        let expected = before.filter { $0.kind == .photo && !$0.isPlus }.map(\.id).filter {
            !vanished.contains($0)
        }
        let known = Set(expected)
        #expect(found.filter(known.contains) == expected)
    }
}
