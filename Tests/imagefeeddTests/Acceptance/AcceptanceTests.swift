import BusAPI
import DBus
import Foundation
import Glibc
import ServiceSimulator
import TestSupport
import Testing

/// What every provider of the network has to do, from login to logout.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct AcceptanceTests {
    @Test(arguments: TestedProvider.allCases)
    func `a user logs in, walks through it all, and logs out without a trace`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        #expect(ada.path == ServiceName.accounts.appending(world.accountID("ada")))
        #expect(try await world.accounts() == [world.accountID("ada")])
        #expect(try await world.property(ada, "State") == .string("ready"))
        // All of it, in the order of the service, however large the pages are.
        let feed = world.feed
        #expect(feed.count > 30)
        #expect(try await world.walk(ada, count: 7) == feed)
        let count = world.requestCount
        #expect(try await world.walk(ada, count: 100) == feed)
        #expect(world.requestCount == count)
        // What arrives meanwhile disturbs nobody who walks.
        var arrived: [String] = []
        let seen = try await world.walk(ada, count: 20) {
            arrived.insert(world.publish(), at: 0)
            guard arrived.count == 1 else { return }
            let new = try await ada.refresh("")
            #expect(new == 1)
        }
        #expect(seen.filter { !arrived.contains($0) } == feed)
        _ = try await ada.refresh("")
        #expect(Array(try await world.ids(ada).prefix(arrived.count)) == arrived)

        let token = try #require(world.tokens.first)
        try await ada.logout()
        #expect(try await world.property(ada, "State") == .string("logged-out"))
        try await world.expectNoTrace(of: "ada", Array(feed.prefix(10)) + [token])
        await expectError("org.freedesktop.DBus.Error.UnknownInterface") {
            _ = try await ada.page("", cursor: "", count: 1)
        }
        if world.requestsPerRevocation > 0 {
            try await world.service.waitForAnswers(
                world.pattern(.revocation), count: world.requestsPerRevocation)
            #expect(!world.isValid(token))
        }
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.allCases)
    func `photos, images and the profile are what the service has`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let photo = try await ada.photo(ids[0])
        #expect(photo["id"] == .string(ids[0]))
        #expect(photo["account"] == .objectPath(ada.path))
        #expect(photo["liked"] == .bool(false))
        #expect(photo["author"]?.string?.isEmpty == false)
        #expect(photo["url"]?.string?.hasPrefix("http") == true)
        #expect(photo["created"] != nil)
        await expectError(ServiceError.notFound.name) { _ = try await ada.photo("no-such-photo") }
        await expectError(ServiceError.notFound.name) {
            _ = try await ada.page("nonsense", cursor: "", count: 1)
        }
        await expectError(.invalidArgs) { _ = try await ada.page("", cursor: "x", count: 1) }
        let sources = try await ada.sources().compactMap { $0["id"]?.string }
        #expect(Set(sources).isSuperset(of: ["likes"]))
        let first = try await ada.properties(.feed)["DefaultSource"]?.string
        #expect(sources.first == first)

        var paths: Set<String> = []
        for size in ["thumb", "small", "regular", "full"] {
            let path = try await ada.imagePath(ids[0], size: size)
            #expect(try Data(contentsOf: URL(filePath: path)).prefix(2) == Data([0xff, 0xd8]))
            paths.insert(path)
        }
        let images = world.service.requests(world.pattern(.images))
        // Images are public: nobody is shown who asks.
        #expect(!images.isEmpty && images.allSatisfy { $0["Authorization"] == nil })
        for path in paths { #expect(access(path, R_OK) == 0) }
        _ = try await ada.imagePath(ids[0], size: "full")
        #expect(world.service.requests(world.pattern(.images)).count == images.count)
        let transfer = world.client.service.transfer(
            try await ada.download(ids[1], to: try Destination.file("photo")))
        try await transfer.wait()
        #expect(try Destination.content().prefix(2) == [0xff, 0xd8])

        let profile = try await ada.properties(.profile)
        #expect(profile["Username"] == .string("ada"))
        #expect(profile["Name"]?.string?.isEmpty == false)
        let avatar = try #require(profile["Avatar"]?.string)
        #expect(try Data(contentsOf: URL(filePath: avatar)).prefix(2) == Data([0xff, 0xd8]))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.allCases)
    func `likes are done, taken back, and kept until they can be sent`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let before = try await ada.photo(ids[2])["likes"]?.uint32
        #expect(try await ada.like(ids[2]) == "done")
        let photo = try await ada.photo(ids[2])
        #expect(photo["liked"] == .bool(true))
        #expect(photo["likes"]?.uint32 == before.map { $0 + 1 })
        #expect(world.likes(of: "ada") == world.likedTogether(ids[2]))
        #expect(Set(try await world.ids(ada, "likes")) == world.likedTogether(ids[2]))
        // Once is enough.
        #expect(try await ada.like(ids[2]) == "done")
        #expect(world.service.requests(world.pattern(.like)).count == 1)
        _ = try await ada.refresh("")
        _ = try await ada.refresh("likes")
        #expect(try await ada.photo(ids[2])["liked"] == .bool(true))
        let toggled = try await ada.toggleLike(ids[2])
        #expect(!toggled.liked && toggled.outcome == "done")
        #expect(world.likes(of: "ada").isEmpty)
        #expect(try await world.ids(ada, "likes") == [])
        #expect(try await ada.photo(ids[2])["likes"]?.uint32 == before)

        // One whose answer is lost is sent again.
        world.service.fail(world.pattern(.like), .answerLost, times: 1)
        #expect(try await ["queued", "done"].contains(ada.like(ids[3])))
        try await world.waitForLikes(ada)
        #expect(world.likes(of: "ada") == world.likedTogether(ids[3]))

        // One without a network outlives the daemon.
        let sent = world.service.requests(world.pattern(.like)).count
        world.service.stop()
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(try await ada.photo(ids[0])["pending"] == .bool(true))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        try await world.daemon.kill()
        try world.service.resume()
        try await world.start()
        try await world.service.waitForAnswers(world.pattern(.like), count: sent + 1)
        try await world.waitForLikes(ada)
        #expect(
            world.likes(of: "ada")
                == world.likedTogether(ids[0]).union(world.likedTogether(ids[3])))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))

        // One of a photo that is gone cannot be.
        let gone = try #require(ids.last)
        world.delete(gone)
        await expectError(ServiceError.notFound.name) { _ = try await ada.like(gone) }
        #expect(try await !world.ids(ada, count: 100).contains(gone))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.allCases)
    func `two accounts have each their own token, feed and likes`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        #expect(try await world.accounts() == [world.accountID("ada"), world.accountID("bob")])
        let ids = try await world.ids(ada)
        #expect(try await world.ids(bob) == ids)
        #expect(try await ada.like(ids[0]) == "done")
        #expect(try await bob.like(ids[4]) == "done")
        #expect(Set(try await world.ids(ada, "likes")) == world.likedTogether(ids[0]))
        #expect(Set(try await world.ids(bob, "likes")) == world.likedTogether(ids[4]))
        #expect(try await bob.photo(ids[0])["liked"] == .bool(false))
        #expect(world.tokens.count == 2)
        // Another login of a known account renews it.
        let before = world.tokens
        #expect(try await world.logIn("ada").path == ada.path)
        _ = try await ada.refresh("")
        if world.givesNewTokens { #expect(world.tokens.count == before.count + 1) }
        let keyring = try PrivateKeyring.current.connect()
        #expect(
            try await keyring.search(["account": world.accountID("ada")]).0.count == 1)
        // The end of one is not the other's.
        try await ada.logout()
        #expect(try await world.ids(bob) == ids)
        #expect(try await bob.like(ids[6]) == "done")
        #expect(try await world.property(bob, "State") == .string("ready"))
        #expect(
            try await world.client.service.manager.properties()["DefaultAccount"]
                == .objectPath(bob.path))
        try await bob.remove()
        #expect(try await world.accounts() == [world.accountID("ada")])
        try await world.expectNoTrace(of: "bob", Array(ids.prefix(10)))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.allCases)
    func `a refused token needs a login, of the same user`(provider: TestedProvider) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await world.property(ada, "State") == .string("needs-login"))
        #expect(try await world.property(ada, "StateReason")?.string?.isEmpty == false)
        #expect(try await world.ids(ada) == ids)
        // It does not ask on and on with a token that is refused.
        let count = world.requestCount
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(world.requestCount == count)

        let (login, url) = try await world.startLogin([.account: .objectPath(ada.path)])
        async let failure = errorReply { _ = try await login.wait() }
        try await world.service.approve(url, as: "bob")
        #expect(await failure?.name == ServiceError.loginFailed.name)
        if world.requestsPerRevocation > 0 {
            let revoked = try await world.service.waitForAnswers(
                world.pattern(.revocation), count: world.requestsPerRevocation)
            for token in revoked.compactMap({ $0.fields["token"] }) {
                #expect(!world.isValid(token))
            }
        }
        #expect(try await world.accounts() == [world.accountID("ada")])
        #expect(try await world.property(ada, "State") == .string("needs-login"))

        let command = try Terminal.start([
            "login", world.provider, "--no-browser", "--account", world.accountID("ada"),
        ])
        try await world.service.approve(command.firstLine(), as: "ada")
        #expect(try await command.exitStatus() == .code(0))
        try await world.wait(ada, "ready")
        _ = try await ada.refresh("")
        // What was wished meanwhile is sent.
        try await world.waitForLikes(ada)
        #expect(world.likes(of: "ada") == world.likedTogether(ids[0]))
        #expect(try await world.accounts() == [world.accountID("ada")])
        try await world.daemon.stop()
    }
}
