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

    @Test func `a queued like that the service refuses fails once`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture())
        let failures = try await Signals(fixture.client.connection, ada.path, .like, "Failed")
        fixture.unsplash.stop()
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(try await ada.like(ids[1]) == .queued)
        let pattern = RequestPattern("POST /photos/\(ids[0])/like")
        fixture.unsplash.fail(pattern, .status(422, error: "Photo cannot be liked"))
        try fixture.unsplash.resume()
        // A refresh by the user, so that nothing waits for the next retry.
        try await ada.refresh()
        let failure = try await failures.messages.elements(1)[0]
        let (photo, isWanted, error, message): (String, Bool, String, String) = try failure.read()
        #expect(photo == ids[0] && isWanted)
        #expect(error == ServiceError.serviceFailed.name.text)
        #expect(message.contains("Photo cannot be liked"))
        try await fixture.waitForLikes(ada)
        let entry = try await ada.photo(ids[0])
        #expect(entry["liked"] == .bool(false) && entry["pending"] == .bool(false))
        #expect(fixture.unsplash.likes(of: "ada") == [ids[1]])
        // It is not sent again.
        _ = try await ada.refresh("")
        try await fixture.daemon.kill()
        try await fixture.start()
        try await ada.refresh()
        #expect(try await ada.unlike(ids[1]) == .done)
        #expect(fixture.unsplash.requests(pattern).count == 1)
        #expect(failures.messages.value.count == 1)
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        // For a call in progress, the error is its reply.
        await expectError(.serviceFailed) { _ = try await ada.like(ids[0]) }
    }
}
