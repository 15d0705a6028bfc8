import BusAPI
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// What a user of Unsplash does, from login to logout.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct UnsplashTests {
    @Test func `a user logs in, browses, likes, and logs out without a trace`() async throws {
        let world = try await UnsplashWorld()
        let account = try await world.logIn("ada")
        #expect(account.path == ServiceName.accounts.appending("unsplash_ada"))
        let first = try await account.page("", cursor: "", count: 30)
        let second = try await account.page("", cursor: first.next, count: 30)
        let ids = (first.photos + second.photos).compactMap { $0["id"]?.string }
        #expect(Set(ids).count == 60)
        let photo = try #require(ids.first)
        #expect(try await account.like(photo) == "done")
        #expect(try await account.photo(photo)["liked"] == .bool(true))
        let likes = try await account.page("likes", cursor: "", count: 10).photos
        #expect(likes.first?["id"]?.string == photo)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]).0.count == 1)
        try await account.logout()
        #expect(try await keyring.search(["account": "unsplash_ada"]).0.isEmpty)
        await expectError("org.freedesktop.DBus.Error.UnknownInterface") {
            _ = try await account.page("", cursor: "", count: 1)
        }
        try await world.daemon.stop()
    }
}
