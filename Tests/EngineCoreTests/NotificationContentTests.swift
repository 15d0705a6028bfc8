import EngineModel
import Likes
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// The issues that are reported to the user, and the actions of their notifications.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct NotificationContentTests {
    // MARK: Likes

    /// Likes the photo `a` at a service that refuses likes.
    ///
    /// - Returns: The service, and the number of the notification.
    private func refusedLike() async throws -> (fixture: ServiceFixture, number: Int) {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        fixture.update { $0.likeError = ProviderError.notSupported("Not now.") }
        await #expect(throws: ProviderError.self) { try await fixture.account.setLiked("a", true) }
        let number = try await fixture.ports.presenter.waitFor(
            "1 like could not be sent for ada at Service. Not now.")
        return (fixture, number)
    }

    @Test func `a failed like is reported, and its action sends it again`() async throws {
        let (fixture, number) = try await refusedLike()
        let presenter = fixture.ports.presenter
        let like = IssueRemedy.Target.like(PhotoID("a"), isWanted: true, fixture.account.id)
        #expect(presenter.notifications.value[number]?.remedies == [IssueRemedy(.retry, like)])
        fixture.update { $0.likeError = nil }
        presenter.press(.retry, number)
        try await fixture.waitForEvent("liked a 1")
        try await presenter.waitUntilEmpty()
        #expect(fixture.count("like a") == 2)
    }

    @Test func `ten failures are one notification with few updates`() async throws {
        let fixture = try await ServiceFixture((0..<10).map { "\($0)" })
        _ = try await fixture.page("new")
        fixture.update { $0.likeError = ProviderError.notSupported("Not now.") }
        for id in 0..<10 {
            await #expect(throws: ProviderError.self) {
                try await fixture.account.setLiked("\(id)", true)
            }
        }
        let presenter = fixture.ports.presenter
        try await presenter.waitFor("1 like")
        try await fixture.ports.clock.endSleep(at: Notifications.updatePause)
        try await presenter.waitFor("10 likes could not be sent")
        #expect(presenter.changes.value == 2)
    }

    @Test func `a queued like that is refused after a restart is reported`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        fixture.disconnect()
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.ports.presenter.notifications.value.isEmpty)
        fixture.update { state in
            state.error = nil
            state.likeError = ProviderError.invalidArgument("No such thing.")
        }
        let next = try await ServiceFixture(after: fixture)
        try await next.ports.presenter.waitFor(
            "1 like could not be sent for ada at Service. No such")
    }

    @Test func `a like that succeeds later withdraws its notification`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isRead: true)
        fixture.update { $0.likeError = ProviderError.notSupported("Not now.") }
        _ = try? await fixture.account.setLiked("a", true)
        _ = try? await fixture.account.toggleLike("b")
        fixture.update { $0.likeError = nil }
        #expect(try await fixture.account.setLiked("a", true) == .done)
        try await fixture.ports.clock.endSleep(at: Notifications.updatePause)
        try await fixture.ports.presenter.waitFor("1 like")
        #expect(try await fixture.account.toggleLike("b").isLiked)
        try await fixture.ports.presenter.waitUntilEmpty()
    }

    @Test func `a second issue waits until the end of the pause`() async throws {
        let (fixture, number) = try await refusedLike()
        let presenter = fixture.ports.presenter
        presenter.press(.retry, number)
        try await fixture.base.events.wait { $0.count { $0 == "like failed a" } == 2 ? true : nil }
        #expect(presenter.notifications.value.isEmpty)
        try await fixture.ports.clock.endSleep(at: Notifications.newNotificationPause)
        try await presenter.waitFor("1 like")
    }

    /// The caller gets either the refusal or the outcome `queued`; the refusal is reported in both cases.
    @Test(arguments: [false, true])
    func `a refusal at the time limit of its call is reported`(_ isFirst: Bool) async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        fixture.update { $0.likeError = ProviderError.notSupported("Not now.") }
        let like = try await fixture.holdLike()
        if isFirst { fixture.update { $0.isHeld = false } }
        fixture.ports.clock.advance(by: LikeSender.callTimeout)
        fixture.update { $0.isHeld = false }
        _ = await like.result
        try await fixture.ports.presenter.waitFor("1 like")
        #expect(fixture.ports.presenter.changes.value == 1)
    }

    // MARK: Tokens and keyrings

    @Test func `a missing token is reported once, and the action logs in again`() async throws {
        let fixture = try await ServiceFixture(["a"]) { ports in
            ports.secrets.state.update { state in
                state.secrets = [.provider("service"): Array("secret".utf8)]
            }
        }
        let presenter = fixture.ports.presenter
        let number = try await presenter.waitFor("ada at Service: The token is not in the keyring")
        #expect(presenter.notifications.value[number]?.actions == [.login])
        fixture.engine.retryNow()
        _ = try? await fixture.account.refreshFeed("new")
        #expect(presenter.changes.value == 1)
        presenter.press(.login, number, token: "front")
        let address = try await fixture.ports.opened.elements(1)[0]
        #expect(address.hasPrefix("https://service.test/authorize?"))
        #expect(address.hasSuffix(" front"))
        #expect(presenter.notifications.value.isEmpty)
        let login = try #require(fixture.engine.logins.all.first)
        #expect(login.expectedAccount === fixture.account)
        await login.cancelAndWait()
        #expect(presenter.notifications.value.isEmpty)
    }

    @Test func `without a browser, a login in a terminal is suggested`() async throws {
        let fixture = try await ServiceFixture(["a"]) { ports in
            ports.secrets.state.update { state in
                state.secrets = [.provider("service"): Array("secret".utf8)]
            }
            ports.hasBrowser.update { $0 = false }
        }
        let presenter = fixture.ports.presenter
        presenter.press(.login, try await presenter.waitFor("ada at Service: The token is not"))
        try await fixture.waitForEvent("login 1 cancelled")
        try await fixture.ports.clock.endSleep(at: Notifications.newNotificationPause)
        let number = try await presenter.waitFor(
            "ada: No browser could be started; a login in a terminal shows the address.")
        #expect(
            presenter.notifications.value[number]?.remedies.contains(
                IssueRemedy(
                    .login, .account(AccountID(stored: "service_ada"), provider: "service"),
                    needsTerminal: true)) == true)
        #expect(fixture.ports.opened.value.isEmpty)
    }

    @Test func `a locked keyring is reported once, and the action unlocks it`() async throws {
        let fixture = try await ServiceFixture(["a"]) { ports in
            ports.secrets.state.update { $0.isLocked = true }
        }
        let presenter = fixture.ports.presenter
        let number = try await presenter.waitFor("Locked.")
        #expect(presenter.notifications.value[number]?.title == "The keyring is needed")
        #expect(fixture.ports.secrets.state.value.prompts == 0)
        presenter.press(.retry, number)
        try await fixture.state { $0 == .ready }
        #expect(fixture.ports.secrets.state.value.prompts == 1)
        try await presenter.waitUntilEmpty()
    }

    @Test func `unlocking the keyring elsewhere withdraws the notification`() async throws {
        let fixture = try await ServiceFixture(["a"]) { ports in
            ports.secrets.state.update { $0.error = .unavailable("There is no keyring.") }
        }
        try await fixture.ports.presenter.waitFor("There is no keyring.")
        fixture.ports.secrets.state.update { $0.error = nil }
        fixture.engine.retryNow()
        try await fixture.ports.presenter.waitUntilEmpty()
        #expect(fixture.ports.presenter.notifications.value.isEmpty)
    }

    @Test func `logging out withdraws the account's notifications`() async throws {
        let fixture = try await refusedLike().fixture
        try await fixture.engine.accounts.logOut(fixture.account)
        try await fixture.ports.presenter.waitUntilEmpty()
        #expect(fixture.ports.presenter.notifications.value.isEmpty)
    }

    // MARK: Logins

    @Test func `the failure of a login without a waiting caller is reported`() async throws {
        let fixture = try EngineFixture()
        let login = try fixture.start("ada", registers: false)
        try await fixture.events.wait { $0.contains("login 1 failed") ? true : nil }
        try await fixture.clock.endSleep(at: Login.waitGracePeriod)
        let number = try await fixture.ports.presenter.waitFor("There is no user ada.")
        #expect(
            fixture.ports.presenter.notifications.value[number]?.title == "Login to Fake failed")
        #expect(fixture.ports.presenter.notifications.value[number]?.actions == [])
        #expect(login.state == .failed)
        // A successful login resolves the issue.
        try await fixture.logIn("ada")
        try await fixture.ports.presenter.waitUntilEmpty()
    }

    @Test(arguments: [false, true])
    func `a failed login is reported if its caller has left`(hasLeft: Bool) async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        let login = try fixture.start("ada", registers: false)
        let outcome = Task.immediate { try await login.wait { hasLeft } }
        fixture.provider.isOpen.update { $0 = true }
        await #expect(throws: ProviderError.self) { try await outcome.value }
        if hasLeft {
            try await fixture.clock.endSleep(at: Login.waitGracePeriod)
            try await fixture.ports.presenter.waitFor("There is no user ada.")
        } else {
            #expect(fixture.ports.presenter.changes.value == 0)
        }
    }

    @Test(arguments: [false, true])
    func `a failure is not reported if the caller waits or retries`(triesAgain: Bool) async throws {
        let fixture = try EngineFixture()
        let login = try fixture.start("ada", registers: false)
        try await fixture.events.wait { $0.contains("login 1 failed") ? true : nil }
        try await fixture.clock.waitForSleeps(until: Login.waitGracePeriod)
        if triesAgain {
            try await fixture.logIn("ada")
        } else {
            await #expect(throws: ProviderError.self) { try await login.wait() }
        }
        fixture.clock.advance(by: Login.waitGracePeriod)
        fixture.engine.reportDisk(isFull: true)
        let presenter = fixture.ports.presenter
        try await presenter.notifications.wait { $0.isEmpty ? nil : true }
        #expect(presenter.notifications.value.values.map(\.title) == ["The disk is full"])
    }

    @Test func `a cancelled, denied or unnecessary login is not reported`() async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        let login = try fixture.start("ada", registers: false)
        let end = Task.immediate { await login.cancelAndWait() }
        fixture.provider.isOpen.update { $0 = true }
        await end.value
        fixture.engine.reportFailure(of: login, EngineError.loginDenied)
        fixture.engine.reportFailure(of: login, EngineError.alreadyLoggedIn("ada is there."))
        #expect(fixture.ports.presenter.changes.value == 0)
    }

    // MARK: Others

    @Test func `the failure of a plugin is reported until it runs`() async throws {
        let fixture = try EngineFixture()
        let presenter = fixture.ports.presenter
        fixture.engine.reportPluginFailure("fake", name: "The plugin fake", reason: "It crashed.")
        let number = try await presenter.waitFor("It crashed.")
        #expect(presenter.notifications.value[number]?.title == "The plugin fake has failed")
        fixture.engine.resolvePluginFailure("fake")
        try await presenter.waitUntilEmpty()
    }

    @Test func `a notification that could not be shown is shown by a new service`() async throws {
        let fixture = try EngineFixture()
        let presenter = fixture.ports.presenter
        presenter.isAvailable.update { $0 = false }
        fixture.engine.reportDisk(isFull: true)
        try await presenter.changes.wait { $0 == 1 ? true : nil }
        await Task.yield()
        presenter.isAvailable.update { $0 = true }
        presenter.onEvent(.serviceAppeared)
        try await presenter.waitFor("Photos and likes cannot be stored")
        #expect(presenter.notifications.value.count == 1)
    }
}
