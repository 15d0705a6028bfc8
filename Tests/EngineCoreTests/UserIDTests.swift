import EngineModel
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// The recognition of accounts by the stable user ID of the service.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct UserIDTests {
    private let federation = FakeFederation()
    private let fixture: EngineFixture

    init() throws { fixture = try federation.fixture() }

    @Test(arguments: [false, true])
    func `a login after a rename renews the account`(namesAccount: Bool) async throws {
        let account = try await federation.logIn(fixture, "ada", "1")
        let renamed = try await federation.logIn(
            fixture, "eve", "1", for: namesAccount ? account : nil)
        #expect(renamed === account)
        #expect(account.id.text == "federation_ada_40one_2eexample")
        #expect((account.identity.username, account.label) == ("eve", "eve"))
        let stored = try #require(try fixture.stored.accounts.first)
        #expect(stored.identity == account.identity)
        #expect(try fixture.stored.accounts.count == 1)
    }

    @Test func `a login after a rename renews an account and keeps its own label`() async throws {
        let account = try await federation.logIn(fixture, "ada", "1")
        try await account.setLabel("Work")
        try await fixture.engine.accounts.logOut(account)
        #expect(try await federation.logIn(fixture, "eve", "1") === account)
        #expect(account.isLoggedIn)
        #expect((account.label, account.identity.username) == ("Work", "eve"))
    }

    @Test func `a user with the former name of another gets an account`() async throws {
        let ada = try await federation.logIn(fixture, "ada", "1")
        let other = try await federation.logIn(fixture, "ada", "2")
        #expect(other !== ada)
        #expect(other.id.text == "federation_ada_40one_2eexample_2")
        #expect(try fixture.stored.accounts.map(\.identity.userID) == ["1", "2"])
        await #expect(
            throws: EngineError.loginFailed(
                "The login was for another user with the name ada@one.example.")
        ) { _ = try await federation.logIn(fixture, "ada", "2", for: ada) }
        #expect(try await federation.logIn(fixture, "ada", "1") === ada)
    }

    @Test func `a user ID counts for its own server only`() async throws {
        let one = try await federation.logIn(fixture, "ada", "1")
        let two = try await federation.logIn(fixture, "eve", "1", at: "two.example")
        #expect(one !== two)
        #expect(fixture.engine.accounts.all.count == 2)
    }

    @Test func `an account without a user ID is found by name, and gets the ID`() async throws {
        let account = try await federation.logIn(fixture, "ada")
        #expect(try await federation.logIn(fixture, "ada", "1") === account)
        #expect(account.identity.userID == "1")
        // A service that names no ID is no reason to forget it.
        #expect(try await federation.logIn(fixture, "ada") === account)
        #expect(account.identity.userID == "1")
    }

    @Test func `a login of a user with two accounts renews the logged-in one`() async throws {
        let first = try federation.fixture()
        let ada = try await federation.logIn(first, "ada", "1")
        try await first.engine.accounts.logOut(ada)
        // Earlier versions created another account after a rename.
        try first.execute(
            """
            INSERT INTO account VALUES (9, 'federation_eve', 'federation', 'eve', 'one.example',
                'eve', 1, NULL, '1', 0);
            """)
        first.engine.stop()
        let fixture = try federation.fixture(first.directory)
        #expect(try await federation.logIn(fixture, "eve", "1").id.text == "federation_eve")
        let account = try #require(fixture.engine.accounts[ada.id])
        #expect(try await federation.logIn(fixture, "eve", "1", for: account) === account)
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "1", count: 257)])
    func `an invalid user ID counts as unknown`(id: String) {
        #expect(AccountIdentity(username: "ada", userID: id).userID == nil)
    }

    @Test func `an existing account adopts the user ID and the name of its profile`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        #expect(fixture.account.identity == AccountIdentity(username: "ada"))
        // Without an ID, another name changes nothing.
        fixture.update { $0.username = "eve" }
        try await fixture.account.refreshProfile()
        #expect(fixture.account.profile.username == "eve")
        fixture.update { $0.userID = "1" }
        let before = fixture.base.changes.value.count
        try await fixture.account.refreshProfile()
        try await fixture.base.changes.wait { changes in
            changes.dropFirst(before).contains(.settings) ? true : nil
        }
        let identity = AccountIdentity(username: "eve", userID: "1")
        #expect((fixture.account.identity, fixture.account.id.text) == (identity, "service_ada"))
        #expect(try fixture.base.stored.accounts.map(\.identity) == [identity])
        // The profile of another user, which no service should send, changes nothing.
        fixture.update { ($0.username, $0.userID) = ("bob", "2") }
        try await fixture.account.refreshProfile()
        try await fixture.account.setLabel("Label")
        #expect(fixture.account.identity == identity)
    }
}
