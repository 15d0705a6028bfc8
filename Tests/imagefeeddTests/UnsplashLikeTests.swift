import Contract
import DBus
import ProviderKit
import ServiceSimulator
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of likes at a service with refusals, caches and errors.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashLikeTests {
    @Test(arguments: [
        LikeSupport.refused(status: 403), .refused(status: 410), .refused(status: 404), .absent,
    ])
    func `likes are stored locally if the service has none`(likes: LikeSupport) async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.unsplash.settings.likes = likes
        #expect(try await ada.like(ids[3]) == .local)
        #expect(try await ada.like(ids[5]) == .local)
        #expect(try await ada.photo(ids[3])["liked"] == .bool(true))
        _ = try await ada.refresh("")
        #expect(try await ada.photo(ids[3])["liked"] == .bool(true))
        #expect(try await fixture.ids(ada, "likes") == [ids[5], ids[3]])
        #expect(try await ada.unlike(ids[5]) == .local)
        #expect(try await fixture.ids(ada, "likes") == [ids[3]])
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.kill()
        try await fixture.start()
        #expect(try await fixture.ids(ada, "likes") == [ids[3]])
        try await fixture.daemon.stop()
    }

    @Test func `a stale list of the service does not undo a like`() async throws {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.cachesReplies = true
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        #expect(try await fixture.ids(ada, "likes") == [])
        #expect(try await ada.like(ids[0]) == .done)
        _ = try await ada.refresh("")
        _ = try await ada.refresh("likes")
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))
        #expect(try await fixture.ids(ada, "likes") == [ids[0]])
        #expect(try await ada.unlike(ids[0]) == .done)
        _ = try await ada.refresh("")
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        #expect(fixture.unsplash.likes(of: "ada") == [])
        try await fixture.daemon.stop()
    }

    @Test(arguments: [Fault.responseLost, .reset, .status(500, error: "no"), .htmlPage])
    func `a like is sent again after an error`(fault: Fault) async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.unsplash.fail("POST /photos/*/like", fault, times: 1)
        // A connection that is closed before the response may be an old one, so the request is repeated immediately.
        #expect(try await [.queued, .done].contains(ada.like(ids[0])))
        // Other requests succeed meanwhile.
        _ = try await ada.refresh("")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like", count: 2)
        try await fixture.client.wait(ada.path, .like, "Pending", .array([], of: String.signature))
        #expect(fixture.unsplash.likes(of: "ada") == [ids[0]])
        try await fixture.daemon.stop()
    }

    @Test(arguments: [400, 422])
    func `a queued like that the service refuses fails once`(status: Int) async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        let failures = try await Signals(fixture.client.connection, ada.path, .like, "Failed")
        fixture.unsplash.stop()
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(try await ada.like(ids[1]) == .queued)
        let pattern = RequestPattern("POST /photos/\(ids[0])/like")
        fixture.unsplash.fail(pattern, .status(status, error: "Photo cannot be liked"))
        try fixture.unsplash.resume()
        // A refresh by the user, so that nothing waits for the next retry.
        try await ada.refresh()
        let failure = try await failures.messages.elements(1)[0]
        let (photo, isWanted, error, message): (String, Bool, String, String) =
            try failure.read()
        #expect(photo == ids[0] && isWanted)
        #expect(error == ServiceError.serviceFailed.name.text)
        #expect(message.contains("Photo cannot be liked"))
        try await fixture.client.wait(ada.path, .like, "Pending", .array([], of: String.signature))
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
        await expectError(ServiceError.serviceFailed.name) { _ = try await ada.like(ids[0]) }
        try await fixture.daemon.stop()
    }
}
