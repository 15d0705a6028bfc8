import EngineCore
import EngineModel
import ProviderKit
import Storage
import TestSupport
import Testing

@Suite struct AccountIDTests {
    @Test(arguments: [
        (AccountIdentity(username: "ada"), "fake_ada"),
        (AccountIdentity(username: "Ada_1"), "fake_Ada_1"),
        (AccountIdentity(username: "a b/.."), "fake_a_20b_2f_2e_2e"),
        (AccountIdentity(username: "é"), "fake__c3_a9"),
        (AccountIdentity(username: "ada", server: "a.org"), "fake_ada_40a_2eorg"),
    ])
    func `an account ID is readable and valid in a path`(identity: AccountIdentity, id: String) {
        #expect(AccountID(provider: "fake", identity) { _ in false }.text == id)
    }

    @Test func `an account ID that is taken gets a number`() {
        let taken: Set = ["fake_ada", "fake_ada_2"]
        let id = AccountID(provider: "fake", AccountIdentity(username: "ada")) {
            taken.contains($0.text)
        }
        #expect(id.text == "fake_ada_3")
    }
}

@Suite(.timeLimit(.minutes(10))) @MainActor
struct AccountTests {
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    @Test func `users with similar names get different account IDs`() async throws {
        let first = try fixture.start("a b")
        let second = try fixture.start("a_20b")
        #expect(try await first.wait().id != second.wait().id)
        #expect(Set(fixture.engine.accounts.all.map(\.id.text)) == ["fake_a_20b", "fake_a_20b_2"])
        let ids = fixture.engine.accounts.all.map { [$0.id.text: $0.identity.username] }
        let next = try fixture.restarted()
        #expect(next.engine.accounts.all.map { [$0.id.text: $0.identity.username] } == ids)
    }

    @Test func `the default account is the first, then the oldest that remains`() async throws {
        let engine = fixture.engine
        // Concurrently: still the first.
        let logins = try ["ada", "bob", "eve"].map { try fixture.start($0) }
        for login in logins { _ = try await login.wait() }
        // The order is not fixed: no login waits for another.
        let first = try #require(engine.accounts.all.first)
        #expect(engine.accounts.defaultAccount === first)
        let others = engine.accounts.all.dropFirst()
        let (second, third) = try (#require(others.first), #require(others.last))
        try await engine.accounts.setDefaultAccount(third)
        try await engine.accounts.logOut(second)
        #expect(engine.accounts.defaultAccount === third)
        #expect(try fixture.stored.defaultAccount == third.id)
        try await engine.accounts.remove(third)
        #expect(engine.accounts.defaultAccount === engine.accounts.all.first)
        #expect(try fixture.stored.defaultAccount == engine.accounts.all.first?.id)
        // There is a default account while an account is logged in.
        for account in [second, third, nil] {
            await #expect(throws: EngineError.self) {
                try await engine.accounts.setDefaultAccount(account)
            }
        }
        #expect(engine.accounts.defaultAccount === first)
        try await engine.accounts.logOut(first)
        try await engine.accounts.setDefaultAccount(nil)
        #expect(engine.accounts.defaultAccount == nil)
        #expect(try fixture.stored.defaultAccount == nil)
    }

    @Test func `concurrent changes are all stored`() async throws {
        let account = try await fixture.logIn("ada")
        async let label: Void = account.setLabel("Ada")
        async let source: Void = account.setDefaultSource(SourceID("other"))
        _ = try await (label, source)
        let stored = try #require(try fixture.stored.accounts.first)
        #expect((stored.label, stored.defaultSource) == ("Ada", SourceID("other")))
        #expect((account.label, account.defaultSource) == ("Ada", SourceID("other")))
    }

    @Test func `a removed account is not stored again`() async throws {
        let account = try await fixture.logIn("ada")
        async let removal: Void = fixture.engine.accounts.remove(account)
        async let label: Void = account.setLabel("Ada")
        _ = try? await label
        try await removal
        #expect(try fixture.stored.accounts.isEmpty)
        await #expect(throws: EngineError.self) { try await account.setLabel("Ada") }
        await #expect(throws: EngineError.self) {
            try await fixture.engine.accounts.remove(account)
        }
        #expect(fixture.provider.users.value.isEmpty)
    }

    @Test func `hidden photos and slideshow sources are deleted with the account`() async throws {
        let directory = try TemporaryDirectory()
        try await EngineFixture.makeStore(["one", "two"], in: directory)
        let data = EngineFixture.dataStore(directory)
        try await data.run {
            try $0.execute(
                """
                INSERT INTO hidden VALUES (1, 'one_ada', 'a'), (2, 'two_ada', 'b');
                INSERT INTO slideshow_source VALUES ('', 0, 'one_ada', 'x'), ('', 1, 'two_ada', 'y')
                """)
        }
        try await AccountStore(data).delete(AccountID(stored: "one_ada"), defaultAccount: nil)
        let left = try await data.run { database in
            try database.all(
                "SELECT account FROM hidden UNION ALL SELECT account FROM slideshow_source"
            ) { $0.text(0) }
        }
        #expect(left == ["two_ada", "two_ada"])
    }

    @Test func `a logged-in account starts in the state loading`() async throws {
        let ada = try await fixture.logIn("ada")
        let bob = try await fixture.logIn("bob")
        try await fixture.engine.accounts.logOut(bob)
        let next = try fixture.restarted()
        let opening = AccountState.loading(reason: "The account is being opened.")
        #expect(next.engine.accounts.all.map(\.id) == [ada.id, bob.id])
        #expect(next.engine.accounts.all.map(\.state) == [opening, .loggedOut])
        next.engine.start()
        #expect(next.engine.accounts.all.map(\.state) == [opening, .loggedOut])
        next.provider.sessions.value[0].continuation.yield(.status(.ready))
        // Other properties of the account may change before the state.
        try await poll { next.engine.accounts.all[0].state == .ready }
    }

    @Test func `session events are passed to the observer`() async throws {
        let account = try await fixture.logIn("ada")
        let session = try #require(fixture.provider.sessions.value.first)
        let photo = PhotoID("1")
        let events: [(SessionEvent, String)] = [
            (.updated(SourceID("all"), new: 2), "updated all 2"),
            (.changed([Photo(id: photo)]), "photos changed [1]"),
            (.removed([photo]), "photos removed [1]"),
        ]
        for (event, words) in events {
            session.continuation.yield(event)
            try await fixture.events.wait { $0.last == words ? true : nil }
        }
        session.continuation.yield(.status(.failed(reason: "No.")))
        try await fixture.events.wait { $0.last == "changed fake_ada" ? true : nil }
        #expect(account.state == .failed(reason: "No.", remedy: .retry))
    }

    @Test func `logging out closes the session, and cursors stay valid`() async throws {
        let account = try await fixture.logIn("ada")
        let (_, next) = try await account.page("", cursor: "", count: 1)
        try await fixture.engine.accounts.logOut(account)
        #expect(fixture.provider.sessions.value.map(\.isClosed.value) == [true])
        await #expect(throws: EngineError.self) { try await account.page("", cursor: "", count: 1) }
        #expect(try await fixture.logIn("ada", registers: false) === account)
        // Cursors stay valid.
        let page = try await account.page("all", cursor: next, count: 1)
        #expect(page.photos.map(\.id.text) == ["second"])
        #expect(page.next.isEmpty)
    }
}
