import Contract
import DBus
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of likes at a service with refusals, caches and errors.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashLikeTests {
    @Test(arguments: [LikeSupport.refused(status: 403), .absent])
    func `likes are stored locally if the service has none`(likes: LikeSupport) async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture())
        fixture.unsplash.settings.likes = likes
        #expect(try await ada.like(ids[3]) == .local)
        #expect(try await ada.like(ids[5]) == .local)
        #expect(try await ada.photo(ids[3])["liked"] == .bool(true))
        _ = try await ada.refresh("")
        #expect(try await ada.photo(ids[3])["liked"] == .bool(true))
        #expect(try await ada.ids("likes") == [ids[5], ids[3]])
        #expect(try await ada.unlike(ids[5]) == .local)
        #expect(try await ada.ids("likes") == [ids[3]])
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.kill()
        try await fixture.start()
        #expect(try await ada.ids("likes") == [ids[3]])
    }
}
