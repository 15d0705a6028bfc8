import EngineCore
import EngineModel
import ProviderKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) @MainActor
struct LoginTests {
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    @Test func `a login is waiting, then exchanging, and ends with its account`() async throws {
        let login = try fixture.start("ada")
        #expect(login.state == .waiting)
        let account = try await login.wait()
        #expect(login.state == .succeeded)
        #expect(account.id.text == "fake_ada")
        #expect(try await login.wait() === account)
        // The profile is read in the background.
        let events = fixture.events.value.filter { event in
            !["profile", "avatar", "changed"].contains { event.hasPrefix($0) }
        }
        #expect(
            events == [
                "login 1", "login 1 exchanging", "added fake_ada", "engine", "login 1 succeeded",
            ])
        #expect(try fixture.stored.accounts.map(\.isLoggedIn) == [true])
    }

    @Test func `a failed login throws its error on every call`() async throws {
        let login = try fixture.start("ada", registers: false)
        for _ in 0..<2 {
            await login.expectFailure(ProviderError.noSuchUser("There is no user ada."))
        }
        #expect(login.state == .failed)
        #expect(fixture.engine.accounts.all.isEmpty)
    }

    @Test func `a seventeenth concurrent login is refused`() async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        let logins = try (1...16).map { try fixture.start("user\($0)") }
        #expect(throws: EngineError.tooManyLogins) { try fixture.start("ada") }
        // A finished login makes room, although it is still listed.
        let end = Task.immediate { await logins[0].cancelAndWait() }
        #expect(logins[0].hasEnded)
        let login = try fixture.start("ada")
        #expect(throws: EngineError.tooManyLogins) { try fixture.start("eve") }
        fixture.provider.isOpen.update { $0 = true }
        #expect(try await login.wait().id.text == "fake_ada")
        await end.value
    }

    @Test func `unfinished logins of one client leave room for others`() async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        for client in 1...4 {
            for number in 1...16 { _ = try fixture.start("user\(number)", client: ":1.\(client)") }
            #expect(throws: EngineError.tooManyLogins) {
                try fixture.start("ada", client: ":1.\(client)")
            }
        }
        #expect(throws: EngineError.tooManyLogins) { try fixture.start("ada", client: ":1.5") }
        let first = try #require(fixture.engine.logins.all.first)
        let end = Task.immediate { await first.cancelAndWait() }
        #expect(first.hasEnded)
        _ = try fixture.start("ada", client: ":1.5")
        fixture.provider.isOpen.update { $0 = true }
        await end.value
    }

    @Test func `more than 1024 finished logins of a client are not retained`() async throws {
        let other = try fixture.start("eve", registers: false, client: ":1.2")
        _ = try? await other.wait()
        for _ in 0..<1100 {
            let login = try fixture.start("ada", registers: false, client: ":1.1")
            await #expect(throws: ProviderError.self) { try await login.wait() }
            // The result remains available at first.
            await #expect(throws: ProviderError.self) { try await login.wait() }
        }
        #expect(fixture.engine.logins.all.map(\.number) == [1] + Array(78...1101))
        let gone = fixture.events.value.filter { $0.hasSuffix("gone") }
        #expect(gone == (2...77).map { "login \($0) gone" })
    }

    @Test func `finished logins of all clients are limited`() async throws {
        for number in 1...2100 {
            let login = try fixture.start("ada", registers: false, client: ":1.\(number)")
            _ = try? await login.wait()
        }
        #expect(fixture.engine.logins.all.map(\.number) == Array(53...2100))
    }

    @Test func `a login fails after ten minutes`() async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        let login = try fixture.start("ada")
        _ = try await fixture.clock.sleepers.elements(1)
        fixture.clock.advance(by: .seconds(599))
        #expect(login.state == .waiting)
        fixture.clock.advance(by: .seconds(1))
        await login.expectFailure(EngineError.loginTimedOut)
        #expect(login.state == .failed)
        // A later response is ignored.
        fixture.provider.isOpen.update { $0 = true }
        try await fixture.provider.removals.wait { $0 == 1 ? true : nil }
        #expect(fixture.provider.users.value.isEmpty && fixture.engine.accounts.all.isEmpty)
        #expect(login.state == .failed)
    }

    @Test func `a finished login is removed after a minute`() async throws {
        try await fixture.logIn("ada")
        // One sleep is for the time limit, the other for the end.
        try await fixture.clock.waitForSleeps(until: .seconds(60))
        fixture.clock.advance(by: .seconds(59))
        #expect(fixture.engine.logins.all.count == 1)
        fixture.clock.advance(by: .seconds(1))
        try await fixture.events.wait { $0.contains("login 1 gone") ? true : nil }
        #expect(fixture.engine.logins.all.isEmpty)
    }

    @Test func `a login that is cancelled while it waits adds no account or user`() async throws {
        let fixture = try EngineFixture(holdsLogins: true)
        let login = try fixture.start("ada")
        let cancelling = Task.immediate { await login.cancelAndWait() }
        #expect(login.state == .cancelled)
        await login.expectFailure(EngineError.cancelled("The login was cancelled."))
        fixture.provider.isOpen.update { $0 = true }
        await cancelling.value
        #expect(fixture.engine.accounts.all.isEmpty && fixture.provider.users.value.isEmpty)
        await login.cancelAndWait()
        #expect(login.state == .cancelled)
    }

    @Test func `a new account whose login is cancelled meanwhile is removed`() async throws {
        let gate = try await fixture.holdStore()
        defer { gate.open() }
        let login = try fixture.start("ada")
        try await fixture.events.wait { $0.contains("login 1 exchanging") ? true : nil }
        let cancelling = Task.immediate { await login.cancelAndWait() }
        #expect(login.state == .cancelled)
        gate.open()
        await cancelling.value
        #expect(fixture.engine.accounts.all.isEmpty)
        #expect(fixture.engine.accounts.defaultAccount == nil)
        #expect(try fixture.stored.accounts.isEmpty)
        #expect(try fixture.stored.defaultAccount == nil)
        #expect(fixture.provider.users.value.isEmpty && fixture.provider.sessions.value.isEmpty)
        // The name is free again.
        try await fixture.logIn("ada")
    }

    @Test func `an account whose login is cancelled meanwhile stays logged out`() async throws {
        let account = try await fixture.logIn("ada")
        try await fixture.engine.accounts.logOut(account)
        let gate = try await fixture.holdStore()
        defer { gate.open() }
        let login = try fixture.start("ada", registers: false)
        try await fixture.events.wait { $0.contains("login 2 exchanging") ? true : nil }
        let cancelling = Task.immediate { await login.cancelAndWait() }
        gate.open()
        await cancelling.value
        #expect(account.state == .loggedOut)
        #expect(try fixture.stored.accounts.map(\.isLoggedIn) == [false])
        #expect(fixture.engine.accounts.defaultAccount == nil)
        #expect(fixture.provider.users.value == ["ada"])
    }

    @Test func `a login that cannot be stored leaves no account and no user`() async throws {
        try fixture.breakStore()
        let login = try fixture.start("ada")
        await #expect(throws: (any Error).self) { _ = try await login.wait() }
        #expect(login.state == .failed)
        #expect(fixture.engine.accounts.all.isEmpty && fixture.provider.users.value.isEmpty)
        try fixture.repairStore()
        let account = try await fixture.logIn("ada")
        #expect(account.id.text == "fake_ada")
    }

    @Test func `one of several concurrent logins of a user succeeds`() async throws {
        let account = try await fixture.logIn("ada")
        try await fixture.engine.accounts.logOut(account)
        fixture.provider.isOpen.update { $0 = false }
        let logins = try (0..<4).map { _ in try fixture.start("ada", registers: false) }
        fixture.provider.isOpen.update { $0 = true }
        var refusals = 0
        for login in logins {
            do {
                #expect(try await login.wait() === account)
            } catch {
                #expect(error as? EngineError == .alreadyLoggedIn("ada is already logged in."))
                refusals += 1
            }
        }
        #expect(refusals == 3)
    }

    @Test func `a login of a logged-in user or of another user is refused`() async throws {
        let account = try await fixture.logIn("ada")
        let login = try fixture.start("ada", registers: false)
        await login.expectFailure(EngineError.alreadyLoggedIn("ada is already logged in."))
        try await fixture.engine.accounts.logOut(account)
        var options = LoginOptions()
        options.account = account
        options.username = "bob"
        options.registers = true
        let other = try fixture.engine.logins.start("fake", options)
        await other.expectFailure(EngineError.loginFailed("The login was for bob, not ada."))
        #expect(fixture.provider.users.value == ["ada"])
        options.registers = false
        options.username = nil
        #expect(try await fixture.engine.logins.start("fake", options).wait() === account)
    }
}
