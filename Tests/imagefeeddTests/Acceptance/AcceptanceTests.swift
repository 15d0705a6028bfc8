import Contract
import DBus
import Foundation
import Glibc
import ProviderKit
import ServiceSimulator
import TestSupport
import Testing

/// Tests of the common behaviour of all providers, from login to logout.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct AcceptanceTests {
    @Test(arguments: TestedProvider.allCases)
    func `a user can log in, read the feed and log out`(provider: TestedProvider) async throws {
        let (fixture, ada) = try await logIn(to: provider.fixture())
        #expect(ada.path == ServiceName.accounts.appending(fixture.accountID("ada")))
        #expect(try await fixture.accounts() == [fixture.accountID("ada")])
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        // The complete feed in the order of the service, with any page size.
        let feed = try await fixture.feed
        #expect(feed.count > 30)
        #expect(try await fixture.walk(ada, count: 7) == feed)
        let requestCount = (fixture as? any ServiceFixture)?.requestCount
        #expect(try await fixture.walk(ada, count: 100) == feed)
        // Fetched pages are cached.
        #expect((fixture as? any ServiceFixture)?.requestCount == requestCount)
        // New photos do not change a walk in progress.
        var arrived: [String] = []
        let found = try await fixture.walk(ada, count: 20) {
            arrived.insert(try await fixture.publish(), at: 0)
            if arrived.count == 1 { _ = try await ada.refresh("") }
        }
        #expect(found.filter { !arrived.contains($0) } == feed)
        _ = try await ada.refresh("")
        arrived.insert(try await fixture.publish(), at: 0)
        // The fixture itself refreshes local accounts.
        if provider != .local { #expect(try await ada.refresh("") == 1) }
        #expect(Array(try await ada.ids().prefix(arrived.count)) == arrived)

        let browserFixture = fixture as? any BrowserFixture
        let token = browserFixture?.tokens.first
        try await ada.logout()
        #expect(try await fixture.property(ada, "State") == .string("logged-out"))
        await expectError(.unknownInterface) { _ = try await ada.page("", cursor: "", count: 1) }
        // A logout deletes the data and revokes the token. Local accounts keep theirs.
        if provider != .local {
            try await fixture.expectNoTrace(of: "ada", feed.prefix(10) + [token].compactMap(\.self))
        }
        if let fixture = browserFixture {
            try await fixture.expectRevocation()
            #expect(try fixture.requestsPerRevocation == 0 || !fixture.isValid(#require(token)))
        }
        #expect(try await fixture.logIn("ada").path == ada.path)
        #expect(try await ada.ids().first == arrived.first)
    }

    @Test(arguments: TestedProvider.allCases)
    func `photos and profiles are those of the service`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.fixture())
        let photo = try await ada.photo(ids[0])
        #expect(photo["id"] == .string(ids[0]))
        #expect(photo["account"] == .objectPath(ada.path))
        #expect(photo["liked"] == .bool(false))
        #expect(photo["created"] != nil)
        await expectError(.notFound) { _ = try await ada.photo("no-such-photo") }
        await expectError(.notFound) { _ = try await ada.page("nonsense", cursor: "", count: 1) }
        await expectError(.invalidArgs) { _ = try await ada.page("", cursor: "x", count: 1) }
        let sources = try await ada.sources().map(\.id.text)
        let first = try await ada.properties(.feed)["DefaultSource"]?.string
        #expect(sources.first == first)

        var paths: Set<String> = []
        for size in ["thumb", "small", "regular", "full"] {
            let path = try await ada.imagePath(ids[0], size: size)
            #expect(try Data(contentsOf: URL(filePath: path)).starts(with: fixture.imageBeginning))
            paths.insert(path)
        }
        for path in paths { #expect(access(path, R_OK) == 0) }
        let transfer = fixture.client.service.transfer(
            try await ada.download(ids[1], to: try Destination.file("photo")))
        try await transfer.wait()
        #expect(try Destination.content().starts(with: fixture.imageBeginning))

        if let fixture = fixture as? any BrowserFixture {
            #expect(photo["author"]?.string?.isEmpty == false)
            #expect(photo["url"]?.string?.hasPrefix("http") == true)
            let avatar = try await fixture.client.avatar(of: ada)
            #expect(
                try Data(contentsOf: URL(filePath: avatar)).starts(with: fixture.imageBeginning))
            let images = fixture.service.requests(fixture.pattern(.images))
            #expect(!images.isEmpty && images.allSatisfy { $0["Authorization"] == nil })
            _ = try await ada.imagePath(ids[0], size: "full")
            #expect(fixture.service.requests(fixture.pattern(.images)).count == images.count)
        }
        let profile = try await ada.properties(.profile)
        #expect(profile["Username"] == .string(fixture.username("ada")))
        #expect(profile["Name"]?.string?.isEmpty == false)
    }

    @Test(arguments: TestedProvider.withLikes)
    func `photos can be liked and unliked`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.fixture())
        let before = try await ada.photo(ids[2])["likes"]?.uint32
        #expect(try await ada.like(ids[2]) == fixture.likeOutcome)
        let photo = try await ada.photo(ids[2])
        #expect(photo["liked"] == .bool(true))
        // A local photo without likes has no number.
        #expect(photo["likes"]?.uint32 == (provider == .local ? 1 : before.map { $0 + 1 }))
        #expect(try await fixture.likes(of: "ada") == fixture.likeGroup(ids[2]))
        #expect(Set(try await ada.ids("likes")) == fixture.likeGroup(ids[2]))
        // A second like has no effect.
        #expect(try await ada.like(ids[2]) == fixture.likeOutcome)
        _ = try await ada.refresh("")
        _ = try await ada.refresh("likes")
        #expect(try await ada.photo(ids[2])["liked"] == .bool(true))
        let toggled = try await ada.toggleLike(ids[2])
        #expect(!toggled.liked && toggled.outcome == fixture.likeOutcome)
        #expect(try await fixture.likes(of: "ada").isEmpty)
        #expect(try await ada.ids("likes") == [])
        #expect(try await ada.photo(ids[2])["likes"]?.uint32 == before)
        // A deleted photo cannot be liked, unless likes are stored locally. The photos of a like group are deleted
        // together.
        if fixture.likeOutcome == .done {
            let gone = try #require(ids.last { fixture.likeGroup($0).count > 1 } ?? ids.last)
            let group = fixture.likeGroup(gone)
            try await fixture.delete(gone)
            await expectError(.notFound) { _ = try await ada.like(gone) }
            #expect(try await group.isDisjoint(with: ada.ids(count: 100)))
        }
    }

    @Test(arguments: TestedProvider.withFaultsAndLikes)
    func `likes are sent once, and queued until then`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.serviceFixture())
        for _ in 0..<2 { #expect(try await ada.like(ids[2]) == .done) }
        #expect(fixture.service.requests(fixture.pattern(.like)).count == 1)
        _ = try await ada.unlike(ids[2])

        // A like whose response is lost is sent again.
        fixture.service.fail(fixture.pattern(.like), .responseLost, times: 1)
        #expect(try await [.queued, .done].contains(ada.like(ids[3])))
        try await fixture.waitForLikes(ada)
        #expect(try await fixture.likes(of: "ada") == fixture.likeGroup(ids[3]))

        // A pending like without a network survives the daemon.
        let sent = fixture.service.requests(fixture.pattern(.like)).count
        fixture.service.stop()
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(try await ada.photo(ids[0])["pending"] == .bool(true))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        try await fixture.daemon.kill()
        try fixture.service.resume()
        try await fixture.start()
        try await fixture.service.waitForReplies(fixture.pattern(.like), count: sent + 1)
        try await fixture.waitForLikes(ada)
        #expect(
            try await fixture.likes(of: "ada")
                == fixture.likeGroup(ids[0]).union(fixture.likeGroup(ids[3])))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))

        // A like is also queued during a rate limit.
        fixture.exhaust()
        await expectError(.rateLimited) { _ = try await ada.refresh("") }
        let count = fixture.requestCount
        let liked = try await fixture.likes(of: "ada")
        let other = try #require(ids.last { !liked.contains($0) })
        #expect(try await ada.like(other) == .queued)
        #expect(fixture.requestCount == count)
    }

    @Test(arguments: TestedProvider.withUsers)
    func `two accounts have separate likes and tokens`(provider: TestedProvider) async throws {
        let (fixture, ada) = try await logIn(to: provider.fixture())
        let bob = try await fixture.logIn("bob")
        #expect(
            try await fixture.accounts() == [fixture.accountID("ada"), fixture.accountID("bob")])
        let ids = try await ada.ids()
        // A server without a list of likes shows the photos that are known.
        #expect(try await bob.ids() == ids)
        let hasLikes = TestedProvider.withLikes.contains(provider)
        if hasLikes {
            #expect(try await ada.like(ids[0]) == .done)
            #expect(try await bob.like(ids[4]) == .done)
            #expect(Set(try await ada.ids("likes")) == fixture.likeGroup(ids[0]))
            #expect(Set(try await bob.ids("likes")) == fixture.likeGroup(ids[4]))
            #expect(try await bob.photo(ids[0])["liked"] == .bool(false))
        }
        if let fixture = fixture as? any BrowserFixture {
            #expect(fixture.tokens.count == 2)
            #expect(try await fixture.logIn("ada").path == ada.path)
            _ = try await ada.refresh("")
            if fixture.issuesNewTokens { #expect(fixture.tokens.count == 3) }
            let keyring = try PrivateKeyring.current.connect()
            #expect(
                try await keyring.search(["account": fixture.accountID("ada")]).0.count == 1)
        }
        try await ada.logout()
        #expect(try await bob.ids() == ids)
        #expect(try await fixture.property(bob, "State") == .string("ready"))
        #expect(
            try await fixture.client.service.properties()["DefaultAccount"]
                == .objectPath(bob.path))
        if hasLikes {
            #expect(try await bob.like(ids[6]) == .done)
            #expect(
                try await fixture.likes(of: "bob").isSuperset(of: fixture.likeGroup(ids[6])))
        }
        try await bob.remove()
        #expect(try await fixture.accounts() == [fixture.accountID("ada")])
        if provider != .local { try await fixture.expectNoTrace(of: "bob", Array(ids.prefix(10))) }
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `a rejected token requires a login of its user`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.browserFixture())
        fixture.revokeTokens(of: "ada")
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        #expect(try await fixture.property(ada, "State") == .string("needs-login"))
        #expect(try await fixture.property(ada, "StateReason")?.string?.isEmpty == false)
        #expect(try await ada.ids() == ids)
        // A rejected token is not used again.
        let count = fixture.requestCount
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(fixture.requestCount == count)

        let (login, url) = try await fixture.startLogin([.account: .objectPath(ada.path)])
        async let failure = errorReply { _ = try await login.wait() }
        try await fixture.service.approve(url, as: "bob")
        #expect(await failure?.name == ServiceError.loginFailed.name)
        try await fixture.expectRevocation()
        #expect(try await fixture.accounts() == [fixture.accountID("ada")])
        #expect(try await fixture.property(ada, "State") == .string("needs-login"))

        let command = try Terminal.start([
            "login", fixture.provider, "--no-browser", "--account", fixture.accountID("ada"),
        ])
        try await fixture.service.approve(command.firstLine(), as: "ada")
        #expect(try await command.exitStatus() == .code(0))
        try await fixture.wait(ada, "ready")
        _ = try await ada.refresh("")
        // The pending like is sent.
        try await fixture.waitForLikes(ada)
        #expect(try await fixture.likes(of: "ada") == fixture.likeGroup(ids[0]))
        #expect(try await fixture.accounts() == [fixture.accountID("ada")])
    }

    @Test(arguments: TestedProvider.withKey + TestedProvider.withPolling)
    func `a rejected key is replaced, and no key is shown`(provider: TestedProvider) async throws {
        let recording = try await BusRecording()
        let (fixture, ada, ids) = try await readFeed(of: provider.secretFixture())
        fixture.revokeTokens(of: "ada")
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        #expect(try await fixture.property(ada, "State") == .string("needs-login"))
        let count = fixture.requestCount
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(fixture.requestCount == count)
        #expect(try await fixture.logIn("ada").path == ada.path)
        try await fixture.wait(ada, "ready")
        try await fixture.waitForLikes(ada)
        #expect(try await fixture.likes(of: "ada") == fixture.likeGroup(ids[0]))

        #expect(fixture.tokens.count == 2)
        let (bus, log) = try await fixture.output(recording)
        for key in fixture.tokens { #expect(!bus.contains(key) && !log.contains(key)) }
        #expect(bus.contains(ids[0]))
        try await ada.remove()
        try await fixture.expectNoTrace(of: "ada", Array(fixture.tokens))
    }
}
