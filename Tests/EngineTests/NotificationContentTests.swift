import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// The issues that are reported to the user, and the actions of their notifications.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct NotificationContentTests {
    // MARK: Likes

    @Test func `a failed like is reported, and its action sends it again`() async throws {
        let fixture = try await ServiceFixture(["a"])
        let board = fixture.world.board
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.notSupported("Not now.") }
        await #expect(throws: ProviderError.self) {
            try await fixture.account.setLiked("a", true)
        }
        let number = try await board.showing(
            "1 like could not be sent for ada at Service. Not now.")
        #expect(
            board.notifications.value[number]?.advice == "Run “imagefeedctl like service_ada/a”.")
        fixture.service.state.update { $0.likeError = nil }
        board.press(.retry, number)
        try await fixture.told("liked a 1")
        try await board.isEmpty()
        #expect(fixture.count("like a") == 2)
    }

    @Test func `ten failures are one notification with few updates`() async throws {
        let fixture = try await ServiceFixture((0..<10).map { "\($0)" })
        _ = try await fixture.page("new")
        fixture.service.state.update { $0.likeError = ProviderError.notSupported("Not now.") }
        for id in 0..<10 {
            await #expect(throws: ProviderError.self) {
                try await fixture.account.setLiked("\(id)", true)
            }
        }
        let board = fixture.world.board
        try await board.showing("1 like")
        let pause = Notifications.updatePause
        try await fixture.world.clock.sleepers.wait { sleepers in
            sleepers.contains { $0.offset == pause } ? true : nil
        }
        fixture.world.clock.advance(by: Notifications.updatePause)
        try await board.showing("10 likes could not be sent")
        #expect(board.changes.value == 2)
    }

    @Test func `a queued like that is refused after a restart is reported`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.world.board.notifications.value.isEmpty)
        fixture.service.state.update { state in
            state.error = nil
            state.likeError = ProviderError.invalidArgument("No such thing.")
        }
        let next = try await ServiceFixture(after: fixture)
        try await next.world.board.showing("1 like could not be sent for ada at Service. No such")
    }

    @Test func `a like that succeeds later withdraws its notification`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.notSupported("Not now.") }
        _ = try? await fixture.account.setLiked("a", true)
        _ = try? await fixture.account.toggleLike("b")
        fixture.service.state.update { $0.likeError = nil }
        #expect(try await fixture.account.setLiked("a", true) == .done)
        fixture.world.clock.advance(by: Notifications.updatePause)
        try await fixture.world.board.showing("1 like")
        #expect(try await fixture.account.toggleLike("b").isLiked)
        try await fixture.world.board.isEmpty()
    }

    @Test func `a second issue waits until the end of the pause`() async throws {
        let fixture = try await ServiceFixture(["a"])
        let board = fixture.world.board
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.notSupported("Not now.") }
        _ = try? await fixture.account.setLiked("a", true)
        let number = try await board.showing("1 like")
        board.press(.retry, number)
        try await fixture.base.told.wait { $0.count { $0 == "like failed a" } == 2 ? true : nil }
        #expect(board.notifications.value.isEmpty)
        fixture.world.clock.advance(by: Notifications.newNotificationPause)
        try await board.showing("1 like")
    }

    /// The caller gets either the refusal or the outcome `queued`; the refusal is reported in both cases.
    @Test(arguments: [false, true])
    func `a refusal at the time limit of its call is reported`(
        _ isFirst: Bool
    ) async throws {
        let fixture = try await ServiceFixture(["a"])
        let world = fixture.world
        _ = try await fixture.page()
        fixture.service.state.update {
            $0.likeError = ProviderError.notSupported("Not now.")
            $0.isHeld = true
        }
        let like = Task { try await fixture.account.setLiked("a", true) }
        try await fixture.service.state.wait { $0.requests.contains("like a") ? true : nil }
        if isFirst { fixture.service.state.update { $0.isHeld = false } }
        world.clock.advance(by: Likes.callTimeout)
        fixture.service.state.update { $0.isHeld = false }
        _ = await like.result
        try await world.board.showing("1 like")
    }

    // MARK: Tokens and keyrings

    @Test func `a missing token is reported once, and the action logs in again`() async throws {
        let fixture = try await ServiceFixture(["a"]) { world in
            world.secrets.state.update { state in
                state.secrets = [.provider("service"): Array("secret".utf8)]
            }
        }
        let board = fixture.world.board
        let number = try await board.showing("ada at Service: The token is not in the keyring")
        #expect(board.notifications.value[number]?.actions == [.login])
        fixture.engine.retryNow()
        _ = try? await fixture.account.refreshFeed("new")
        #expect(board.changes.value == 1)
        board.press(.login, number, token: "front")
        let address = try await fixture.world.opened.elements(1)[0]
        #expect(address.hasPrefix("https://service.test/authorize?"))
        #expect(address.hasSuffix(" front"))
        #expect(board.notifications.value.isEmpty)
        let login = try #require(fixture.engine.logins.all.first)
        #expect(login.expectedAccount === fixture.account)
        await login.cancelAndWait()
        #expect(board.notifications.value.isEmpty)
    }

    @Test func `a browser that does not start is reported with a command`() async throws {
        let fixture = try await ServiceFixture(["a"]) { world in
            world.secrets.state.update { state in
                state.secrets = [.provider("service"): Array("secret".utf8)]
            }
            world.hasBrowser.update { $0 = false }
        }
        let board = fixture.world.board
        board.press(.login, try await board.showing("ada at Service: The token is not"))
        try await fixture.told("login 1 cancelled")
        fixture.world.clock.advance(by: Notifications.newNotificationPause)
        try await board.showing(
            "ada: No browser could be started; \"imagefeedctl login service --account service_ada\""
        )
    }

    @Test func `a locked keyring is reported once, and the action unlocks it`()
        async throws
    {
        let fixture = try await ServiceFixture(["a"]) { world in
            world.secrets.state.update { $0.isLocked = true }
        }
        let board = fixture.world.board
        let number = try await board.showing("Locked.")
        #expect(board.notifications.value[number]?.title == "The keyring is needed")
        #expect(fixture.world.secrets.state.value.prompts == 0)
        board.press(.retry, number)
        try await fixture.state { $0 == .ready }
        #expect(fixture.world.secrets.state.value.prompts == 1)
        try await board.isEmpty()
    }

    @Test func `unlocking the keyring elsewhere withdraws the notification`() async throws {
        let fixture = try await ServiceFixture(["a"]) { world in
            world.secrets.state.update { $0.error = .unavailable("There is no keyring.") }
        }
        try await fixture.world.board.showing("There is no keyring.")
        fixture.world.secrets.state.update { $0.error = nil }
        fixture.engine.retryNow()
        try await fixture.world.board.isEmpty()
    }

    @Test func `logging out withdraws the account's notifications`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.notSupported("Not now.") }
        _ = try? await fixture.account.setLiked("a", true)
        try await fixture.world.board.showing("1 like")
        try await fixture.engine.logOut(fixture.account)
        try await fixture.world.board.isEmpty()
    }

    // MARK: Logins

    @Test func `the failure of a login without a waiting caller is reported`() async throws {
        let fixture = try EngineFixture()
        let login = try fixture.start("ada", registers: false)
        try await fixture.told.wait { $0.contains("login 1 failed") ? true : nil }
        let number = try await fixture.world.board.showing("There is no user ada.")
        #expect(fixture.world.board.notifications.value[number]?.title == "Login to Fake failed")
        #expect(fixture.world.board.notifications.value[number]?.actions == [])
        #expect(login.state == .failed)
        // A successful login resolves the issue.
        try await fixture.logIn("ada")
        try await fixture.world.board.isEmpty()
    }

    @Test func `the failure of a login with a waiting caller is not reported`() async throws {
        let fixture = try EngineFixture()
        fixture.provider.isOpen.update { $0 = false }
        let login = try fixture.start("ada", registers: false)
        let outcome = Task.immediate { try await login.wait() }
        fixture.provider.isOpen.update { $0 = true }
        await #expect(throws: ProviderError.self) { try await outcome.value }
        #expect(fixture.world.board.changes.value == 0)
    }

    @Test func `a cancelled or denied login is not reported`() async throws {
        let fixture = try EngineFixture()
        fixture.provider.isOpen.update { $0 = false }
        let login = try fixture.start("ada", registers: false)
        let end = Task.immediate { await login.cancelAndWait() }
        fixture.provider.isOpen.update { $0 = true }
        await end.value
        fixture.engine.reportFailure(of: login, EngineError.loginDenied)
        #expect(fixture.world.board.changes.value == 0)
    }

    // MARK: Others

    @Test func `the failure of a plugin is reported until it runs`() async throws {
        let fixture = try EngineFixture()
        let board = fixture.world.board
        fixture.engine.reportPluginFailure("fake", name: "The plugin fake", reason: "It crashed.")
        let number = try await board.showing("It crashed.")
        #expect(board.notifications.value[number]?.title == "The plugin fake has failed")
        fixture.engine.resolvePluginFailure("fake")
        try await board.isEmpty()
    }

    @Test func `stopping the engine withdraws all notifications`() async throws {
        let fixture = try EngineFixture()
        fixture.engine.reportDisk(isFull: true)
        try await fixture.world.board.showing("Photos and likes cannot be stored")
        fixture.engine.stop()
        #expect(fixture.world.board.notifications.value.isEmpty)
    }

    @Test func `a notification that could not be shown is shown when a service starts`()
        async throws
    {
        let fixture = try EngineFixture()
        let board = fixture.world.board
        board.isThere.update { $0 = false }
        fixture.engine.reportDisk(isFull: true)
        try await board.changes.wait { $0 == 1 ? true : nil }
        await Task.yield()
        board.isThere.update { $0 = true }
        board.delegate?.presenterAppeared()
        try await board.showing("Photos and likes cannot be stored")
    }
}
