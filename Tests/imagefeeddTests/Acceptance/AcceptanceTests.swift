import BusAPI
import DBus
import Foundation
import Glibc
import ServiceSimulator
import TestSupport
import Testing

/// Tests of the common behaviour of all providers, from login to logout.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct AcceptanceTests {
    @Test(arguments: TestedProvider.allCases)
    func `a user can log in, walk through the feed, log out and log in again`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        #expect(ada.path == ServiceName.accounts.appending(world.accountID("ada")))
        #expect(try await world.accounts() == [world.accountID("ada")])
        #expect(try await world.property(ada, "State") == .string("ready"))
        // The complete feed in the order of the service, with any page size.
        let feed = try await world.feed
        #expect(feed.count > 30)
        #expect(try await world.walk(ada, count: 7) == feed)
        #expect(try await world.walk(ada, count: 100) == feed)
        // New photos do not change a walk in progress.
        var arrived: [String] = []
        let found = try await world.walk(ada, count: 20) {
            arrived.insert(try await world.publish(), at: 0)
            if arrived.count == 1 { _ = try await ada.refresh("") }
        }
        #expect(found.filter { !arrived.contains($0) } == feed)
        _ = try await ada.refresh("")
        #expect(Array(try await world.ids(ada).prefix(arrived.count)) == arrived)

        try await ada.logout()
        #expect(try await world.property(ada, "State") == .string("logged-out"))
        await expectError("org.freedesktop.DBus.Error.UnknownInterface") {
            _ = try await ada.page("", cursor: "", count: 1)
        }
        #expect(try await world.logIn("ada").path == ada.path)
        #expect(try await world.ids(ada).first == arrived.first)
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.remote)
    func `fetched pages are cached and deleted by the logout`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let feed = try await world.feed
        #expect(try await world.walk(ada, count: 7) == feed)
        let count = world.requestCount
        #expect(try await world.walk(ada, count: 100) == feed)
        #expect(world.requestCount == count)
        let newest = try await world.publish()
        #expect(try await ada.refresh("") == 1)
        #expect(try await world.ids(ada).first == newest)
        try await ada.logout()
        try await world.expectNoTrace(of: "ada", Array(feed.prefix(10)))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `a logout revokes the token`(provider: TestedProvider) async throws {
        let world = try await provider.browserWorld()
        let ada = try await world.logIn("ada")
        let token = try #require(world.tokens.first)
        try await ada.logout()
        try await world.expectNoTrace(of: "ada", [token])
        if world.requestsPerRevocation > 0 {
            try await world.service.waitForReplies(
                world.pattern(.revocation), count: world.requestsPerRevocation)
            #expect(!world.isValid(token))
        }
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.allCases)
    func `photos, images and the profile are those of the service`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let photo = try await ada.photo(ids[0])
        #expect(photo["id"] == .string(ids[0]))
        #expect(photo["account"] == .objectPath(ada.path))
        #expect(photo["liked"] == .bool(false))
        #expect(photo["created"] != nil)
        await expectError(ServiceError.notFound.name) { _ = try await ada.photo("no-such-photo") }
        await expectError(ServiceError.notFound.name) {
            _ = try await ada.page("nonsense", cursor: "", count: 1)
        }
        await expectError(.invalidArgs) { _ = try await ada.page("", cursor: "x", count: 1) }
        let sources = try await ada.sources().compactMap { $0["id"]?.string }
        let first = try await ada.properties(.feed)["DefaultSource"]?.string
        #expect(sources.first == first)

        var paths: Set<String> = []
        for size in ["thumb", "small", "regular", "full"] {
            let path = try await ada.imagePath(ids[0], size: size)
            #expect(try Data(contentsOf: URL(filePath: path)).starts(with: world.imageBeginning))
            paths.insert(path)
        }
        for path in paths { #expect(access(path, R_OK) == 0) }
        let transfer = world.client.service.transfer(
            try await ada.download(ids[1], to: try Destination.file("photo")))
        try await transfer.wait()
        #expect(try Destination.content().starts(with: world.imageBeginning))

        let profile = try await ada.properties(.profile)
        #expect(profile["Username"] == .string(world.username("ada")))
        #expect(profile["Name"]?.string?.isEmpty == false)
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `photos have authors, users have avatars, and image requests contain no token`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.browserWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let photo = try await ada.photo(ids[0])
        #expect(photo["author"]?.string?.isEmpty == false)
        #expect(photo["url"]?.string?.hasPrefix("http") == true)
        let avatar = try #require(try await ada.properties(.profile)["Avatar"]?.string)
        #expect(try Data(contentsOf: URL(filePath: avatar)).starts(with: world.imageBeginning))
        _ = try await ada.imagePath(ids[0], size: "full")
        let images = world.service.requests(world.pattern(.images))
        #expect(!images.isEmpty && images.allSatisfy { $0["Authorization"] == nil })
        _ = try await ada.imagePath(ids[0], size: "full")
        #expect(world.service.requests(world.pattern(.images)).count == images.count)
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withLikes)
    func `photos can be liked and unliked`(provider: TestedProvider) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let before = try await ada.photo(ids[2])["likes"]?.uint32
        #expect(try await ada.like(ids[2]) == world.likeOutcome)
        let photo = try await ada.photo(ids[2])
        #expect(photo["liked"] == .bool(true))
        #expect(photo["likes"]?.uint32 == before.map { $0 + 1 })
        #expect(try await world.likes(of: "ada") == world.likeGroup(ids[2]))
        #expect(Set(try await world.ids(ada, "likes")) == world.likeGroup(ids[2]))
        // A second like has no effect.
        #expect(try await ada.like(ids[2]) == world.likeOutcome)
        _ = try await ada.refresh("")
        _ = try await ada.refresh("likes")
        #expect(try await ada.photo(ids[2])["liked"] == .bool(true))
        let toggled = try await ada.toggleLike(ids[2])
        #expect(!toggled.liked && toggled.outcome == world.likeOutcome)
        #expect(try await world.likes(of: "ada").isEmpty)
        #expect(try await world.ids(ada, "likes") == [])
        #expect(try await ada.photo(ids[2])["likes"]?.uint32 == before)
        // A deleted photo cannot be liked, unless likes are stored locally. The photos of a like group are deleted
        // together.
        if world.likeOutcome == "done" {
            let gone = try #require(ids.last { world.likeGroup($0).count > 1 } ?? ids.last)
            let group = world.likeGroup(gone)
            try await world.delete(gone)
            await expectError(ServiceError.notFound.name) { _ = try await ada.like(gone) }
            #expect(try await group.isDisjoint(with: world.ids(ada, count: 100)))
        }
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.remoteWithLikes)
    func `likes are sent once and queued until they can be sent`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        for _ in 0..<2 { #expect(try await ada.like(ids[2]) == "done") }
        #expect(world.service.requests(world.pattern(.like)).count == 1)
        _ = try await ada.unlike(ids[2])

        // A like whose response is lost is sent again.
        world.service.fail(world.pattern(.like), .responseLost, times: 1)
        #expect(try await ["queued", "done"].contains(ada.like(ids[3])))
        try await world.waitForLikes(ada)
        #expect(try await world.likes(of: "ada") == world.likeGroup(ids[3]))

        // A pending like without a network survives the daemon.
        let sent = world.service.requests(world.pattern(.like)).count
        world.service.stop()
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(try await ada.photo(ids[0])["pending"] == .bool(true))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        try await world.daemon.kill()
        try world.service.resume()
        try await world.start()
        try await world.service.waitForReplies(world.pattern(.like), count: sent + 1)
        try await world.waitForLikes(ada)
        #expect(
            try await world.likes(of: "ada")
                == world.likeGroup(ids[0]).union(world.likeGroup(ids[3])))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))

        // A like is also queued during a rate limit.
        world.exhaust()
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        let count = world.requestCount
        let liked = try await world.likes(of: "ada")
        let other = try #require(ids.last { !liked.contains($0) })
        #expect(try await ada.like(other) == "queued")
        #expect(world.requestCount == count)
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withUsers)
    func `two accounts are independent`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        #expect(try await world.accounts() == [world.accountID("ada"), world.accountID("bob")])
        let ids = try await world.ids(ada)
        #expect(try await world.ids(bob) == ids)
        try await ada.logout()
        #expect(try await world.ids(bob) == ids)
        #expect(try await world.property(bob, "State") == .string("ready"))
        #expect(
            try await world.client.service.manager.properties()["DefaultAccount"]
                == .objectPath(bob.path))
        try await bob.remove()
        #expect(try await world.accounts() == [world.accountID("ada")])
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withUsersAndLikes)
    func `two accounts have separate likes`(provider: TestedProvider) async throws {
        let world = try await provider.world()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        let ids = try await world.ids(ada)
        #expect(try await ada.like(ids[0]) == "done")
        #expect(try await bob.like(ids[4]) == "done")
        #expect(Set(try await world.ids(ada, "likes")) == world.likeGroup(ids[0]))
        #expect(Set(try await world.ids(bob, "likes")) == world.likeGroup(ids[4]))
        #expect(try await bob.photo(ids[0])["liked"] == .bool(false))
        try await ada.logout()
        #expect(try await bob.like(ids[6]) == "done")
        #expect(try await world.likes(of: "bob").isSuperset(of: world.likeGroup(ids[6])))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `two accounts have separate tokens and a login replaces its own`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.browserWorld()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        let ids = try await world.ids(bob)
        _ = try await world.ids(ada)
        #expect(world.tokens.count == 2)
        let before = world.tokens
        #expect(try await world.logIn("ada").path == ada.path)
        _ = try await ada.refresh("")
        if world.issuesNewTokens { #expect(world.tokens.count == before.count + 1) }
        let keyring = try PrivateKeyring.current.connect()
        #expect(
            try await keyring.search(["account": world.accountID("ada")]).0.count == 1)
        try await ada.logout()
        try await bob.remove()
        try await world.expectNoTrace(of: "bob", Array(ids.prefix(10)))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `a rejected token requires a login of the same user`(provider: TestedProvider) async throws
    {
        let world = try await provider.browserWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await world.property(ada, "State") == .string("needs-login"))
        #expect(try await world.property(ada, "StateReason")?.string?.isEmpty == false)
        #expect(try await world.ids(ada) == ids)
        // A rejected token is not used again.
        let count = world.requestCount
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(world.requestCount == count)

        let (login, url) = try await world.startLogin([.account: .objectPath(ada.path)])
        async let failure = errorReply { _ = try await login.wait() }
        try await world.service.approve(url, as: "bob")
        #expect(await failure?.name == ServiceError.loginFailed.name)
        if world.requestsPerRevocation > 0 {
            let revoked = try await world.service.waitForReplies(
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
        // The pending like is sent.
        try await world.waitForLikes(ada)
        #expect(try await world.likes(of: "ada") == world.likeGroup(ids[0]))
        #expect(try await world.accounts() == [world.accountID("ada")])
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withKey)
    func `a rejected key requires another one and no key is disclosed`(
        provider: TestedProvider
    ) async throws {
        let recording = try await BusRecording()
        let world = try await provider.secretWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await world.property(ada, "State") == .string("needs-login"))
        let count = world.requestCount
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(world.requestCount == count)
        #expect(try await world.logIn("ada").path == ada.path)
        try await world.wait(ada, "ready")
        try await world.waitForLikes(ada)
        #expect(try await world.likes(of: "ada") == world.likeGroup(ids[0]))

        #expect(world.tokens.count == 2)
        let (bus, log) = (
            try await recording.text(), world.daemon.process.standardError.value.text
        )
        for key in world.tokens { #expect(!bus.contains(key) && !log.contains(key)) }
        #expect(bus.contains(ids[0]))
        try await ada.remove()
        try await world.expectNoTrace(of: "ada", Array(world.tokens))
        try await world.daemon.stop()
    }
}
