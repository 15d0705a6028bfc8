import EngineModel
import Feeds
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Accounts of a provider that stores users, likes and avatars itself.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LocalAccountTests {
    private let provider = FakeLocalProvider()
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture(providers: [provider]) }

    /// Makes another engine with the same store and provider.
    private func restarted() throws -> EngineFixture {
        try EngineFixture(fixture.directory, providers: [provider])
    }

    private func logIn(
        _ fixture: EngineFixture, _ name: String = "ada", password: String? = nil
    ) async throws -> Account {
        var options = LoginOptions()
        options.username = name
        if let password { options.password = { Secret(password) } }
        let account = try await fixture.engine.logins.start("home", options).wait()
        // Later events do not belong to the login.
        try await fixture.events.wait { $0.contains("profile \(name)") ? true : nil }
        return account
    }

    /// Waits until these events were the last ones, without those of avatars.
    private func waitForLast(_ events: String...) async throws {
        try await fixture.events.wait { all in
            all.filter { !$0.hasPrefix("avatar") }.suffix(events.count) == events[...] ? true : nil
        }
    }

    @Test func `a login reads its password after it has begun`() async throws {
        _ = try await logIn(fixture, password: "geheim")
        await #expect(throws: ProviderError.wrongPassword("No.")) {
            _ = try await logIn(fixture, "bob", password: "geraten")
        }
        var options = LoginOptions()
        options.username = "eve"
        options.password = { throw EngineError.tooLarge("Too long.") }
        let login = try fixture.engine.logins.start("home", options)
        await login.expectFailure(EngineError.tooLarge("Too long."))
        #expect(fixture.engine.accounts.all.map(\.id.text) == ["home_ada"])
    }

    @Test func `a login of a user that is removed meanwhile fails`() async throws {
        let account = try await logIn(fixture)
        try await fixture.engine.accounts.logOut(account)
        var options = LoginOptions()
        options.username = "ada"
        options.password = {
            try await fixture.engine.accounts.remove(account)
            return Secret("geheim")
        }
        let login = try fixture.engine.logins.start("home", options)
        await login.expectFailure(ProviderError.noSuchUser("There is no such user."))
        #expect(fixture.engine.accounts.all.isEmpty)
        #expect(try fixture.stored.accounts.isEmpty)
    }

    @Test func `an account is deleted before its user, and again after a failure`() async throws {
        let account = try await logIn(fixture)
        provider.state.update { $0.keepsUsers = true }
        await #expect(throws: ProviderError.self) {
            try await fixture.engine.accounts.remove(account)
        }
        // The end of the process would leave no account without a user.
        #expect(try fixture.stored.accounts.isEmpty)
        provider.state.update { $0.keepsUsers = false }
        try await fixture.engine.accounts.remove(account)
        #expect(fixture.engine.accounts.all.isEmpty)
    }

    @Test func `a like is done at once and reported`() async throws {
        let account = try await logIn(fixture)
        #expect(account.offersLikes)
        #expect(try await account.setLiked("1", true) == .done)
        #expect(account.likeCount == 1)
        let events = fixture.events.value.filter {
            !$0.hasPrefix("profile") && !$0.hasPrefix("avatar")
        }
        #expect(
            events.suffix(4) == [
                "photos changed [1]", "updated likes 1", "liked 1 0", "changed home_ada",
            ])
        #expect(try await account.setLiked("1", true) == .done)
        #expect(
            fixture.events.value.filter { !$0.hasPrefix("profile") && !$0.hasPrefix("avatar") }
                == events)
        // Each call sees the state that the one before has set.
        async let first = account.toggleLike("1")
        async let second = account.toggleLike("1")
        #expect(try await Set([first.isLiked, second.isLiked]) == [false, true])
        await #expect(throws: ProviderError.self) { try await account.setLiked("none", true) }
        let before = fixture.events.value.count
        provider.sessions.value[0].continuation.yield(.likes(count: 7))
        _ = try await fixture.events.elements(before + 2)
        #expect(account.likeCount == 7)
        try await fixture.engine.accounts.logOut(account)
        await #expect(throws: EngineError.self) { try await account.setLiked("1", false) }
    }

    @Test func `an account offers likes before its session begins`() async throws {
        _ = try await logIn(fixture)
        fixture.engine.stop()
        let next = try restarted()
        #expect(next.engine.accounts.all.map(\.offersLikes) == [true])
    }

    @Test func `a removed default album is replaced by all photos until it returns`() async throws {
        let account = try await logIn(fixture)
        let album = SourceID("album:x")
        try await account.setDefaultSource(album)
        let (_, next) = try await account.page("", cursor: "", count: 1)
        let session = provider.sessions.value[0]

        provider.state.update { $0.sources.remove("album:x") }
        session.continuation.yield(.removed([PhotoID("1")]))
        try await waitForLast("photos removed [1]", "profile ada", "changed home_ada")
        #expect(account.defaultSource == SourceID("all"))
        #expect(try await account.page("", cursor: "", count: 1).photos.map(\.id.text) == ["all"])
        await #expect(throws: ProviderError.staleCursor) {
            try await account.page("", cursor: next, count: 1)
        }
        await #expect(throws: ProviderError.self) {
            try await account.page("all", cursor: "x", count: 1)
        }
        // The choice of the user is still stored.
        #expect(try fixture.stored.accounts.first?.defaultSource == album)
        provider.state.update { $0.sources.insert("album:x") }
        session.continuation.yield(.updated(album, new: 1))
        try await waitForLast("updated album:x 1", "profile ada", "changed home_ada")
        #expect(account.defaultSource == album)
        #expect(try await account.page("", cursor: next, count: 1).photos.count == 1)

        provider.state.update { $0.sources.remove("album:x") }
        #expect(await account.checkDefaultSource() == SourceID("all"))
        try await account.setDefaultSource(SourceID("likes"))
        #expect(account.defaultSource == SourceID("likes"))
    }

    @Test func `a change of all photos is announced once for each source`() async throws {
        let account = try await logIn(fixture)
        account.watch(SourceID("all"), by: .client(":1.1"))
        let session = provider.sessions.value[0]
        session.continuation.yield(.changed([]))
        session.continuation.yield(.updated(SourceID("all"), new: 0))
        session.continuation.yield(.updated(SourceID("likes"), new: 0))
        try await fixture.events.wait { $0.contains("updated likes 0") ? true : nil }
        #expect(fixture.events.value.count { $0 == "updated all 0" } == 1)
    }

    @Test func `an avatar is made from a photo, also of another account`() async throws {
        let ada = try await logIn(fixture)
        let bob = try await logIn(fixture, "bob")
        try await ada.setAvatar("1")
        #expect(ada.profile.avatar == "/ada/1/full")
        try await ada.setAvatar("home_bob/2/3")
        #expect(ada.profile.avatar == "/bob/2/3/full")
        try await ada.setAvatar("nobody/2")
        #expect(ada.profile.avatar == "/ada/nobody/2/full")
        try await fixture.engine.accounts.logOut(bob)
        await #expect(throws: EngineError.self) { try await ada.setAvatar("home_bob/2") }
        await #expect(throws: EngineError.self) { try await bob.setAvatar("2") }
    }

    @Test func `a thumbnail without room on the disk is reported meanwhile`() async throws {
        let ada = try await logIn(fixture)
        try fixture.directory.write("", to: "cache/other")
        provider.state.update { $0.isDiskFull = true }
        await #expect(throws: ProviderError.storageFull) {
            _ = try await ada.imagePath("1", size: "thumb")
        }
        try await fixture.ports.presenter.waitFor("Photos and likes cannot be stored")
        provider.state.update { $0.isDiskFull = false }
        _ = try await ada.imagePath("1", size: "thumb")
        try await fixture.ports.presenter.waitUntilEmpty()
    }

    @Test func `a logged-out account keeps its name and avatar`() async throws {
        let ada = try await logIn(fixture)
        try await ada.setAvatar("1")
        try await fixture.engine.accounts.logOut(ada)
        #expect(ada.profile.avatar == "/ada/1/full")
        fixture.engine.stop()
        let next = try restarted()
        next.engine.start()
        try await next.events.wait { $0.contains("profile ada") ? true : nil }
        let account = try #require(next.engine.accounts.all.first)
        #expect(!account.isLoggedIn)
        #expect((account.profile.avatar, account.profileState) == ("/ada/1/full", .ready))
        try await account.refreshProfile()
    }

    @Test func `a provider without avatars refuses to set one`() async throws {
        let fixture = try EngineFixture()
        let account = try await fixture.logIn("ada")
        await #expect(throws: EngineError.self) { try await account.setAvatar("1") }
    }

    @Test func `the session learns of watches of the dated source`() async throws {
        let account = try await logIn(fixture)
        let session = try #require(provider.sessions.value.last)
        // Its folders may be in a file system that reports no changes.
        account.watch(SourceID("all"), by: .client(":1.1"))
        #expect(!session.isWatched.value)
        #expect(account.isDated(SourceID("memories")) && !account.isDated(SourceID("all")))
        let memories = SourceID("memories")
        account.watch(memories, by: .client(":1.1"))
        account.watch(memories, by: .component("slideshow"))
        #expect(session.isWatched.value)
        account.unwatch(.client(":1.1"))
        #expect(session.isWatched.value)
        fixture.engine.unwatch(.component("slideshow"))
        #expect(!session.isWatched.value)
        fixture.engine.resumed()
        #expect(session.dateChecks.value == 1)
        // The default source is watched by its ID.
        try await account.setDefaultSource(memories)
        account.watch(SourceID(""), by: .client(":1.2"))
        fixture.engine.restartSessions(of: "home")
        let next = try #require(provider.sessions.value.last)
        #expect(next !== session && next.isWatched.value)
    }

    @Test func `a client that does not read for a day ends its watch`() async throws {
        let account = try await logIn(fixture)
        let session = try #require(provider.sessions.value.last)
        let memories = SourceID("memories")
        account.watch(memories, by: .client(":1.1"))
        session.continuation.yield(.updated(memories, new: 1))
        try await fixture.events.wait { $0.contains("updated memories 1") ? true : nil }
        #expect(session.isWatched.value)
        fixture.ports.time.update { $0 = $0 + .seconds(86_400) }
        session.continuation.yield(.updated(memories, new: 2))
        try await session.isWatched.wait { $0 ? nil : true }
    }
}
