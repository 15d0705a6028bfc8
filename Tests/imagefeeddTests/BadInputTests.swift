import Contract
import DBus
import TestSupport
import Testing

/// Tests of the error replies to invalid calls.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct BadInputTests {
    /// Starts the daemon with four photos, two of them in an album, and logs in ada and bob.
    private func start() async throws -> (TestClient, ada: AccountClient, bob: AccountClient) {
        let (_, client, ada) = try await startWithUser(["a", "b", "sub/c", "sub/d"])
        return (client, ada, try await client.logIn("bob"))
    }

    @Test func `arguments of wrong types are rejected`() async throws {
        let (client, ada, _) = try await start()
        let proxy = client.proxy(ada.path)
        let root = client.proxy(ServiceName.root)
        let calls: [() async throws -> Void] = [
            { try await proxy.perform(.feed, "GetPage") },
            { try await proxy.perform(.feed, "GetPage", "", "", "1") },
            { try await proxy.perform(.feed, "GetPage", "", "", 1 as Int32) },
            { try await proxy.perform(.feed, "GetPhoto", 1 as UInt32) },
            { try await proxy.perform(.account, "Logout", "now") },
            { try await root.perform(.manager, "Login", "local") },
            { try await root.perform(.manager, "Login", "local", ["username": "ada"]) },
            { try await proxy.perform("org.freedesktop.DBus.Properties", "Get", "x") },
            { try await proxy.set(.account, "Label", to: 1 as UInt32) },
            { try await proxy.set(.account, "Label", to: "") },
            { try await root.set(.manager, "DefaultAccount", to: ada.path.text) },
        ]
        for call in calls { await expectError(.invalidArgs, call) }
        #expect(try await ada.properties(.account)["Label"] == .string("ada"))
    }

    @Test func `invalid counts and cursors of pages are rejected`() async throws {
        let (_, ada, bob) = try await start()
        for count in [0, 101, UInt32.max] {
            await expectError(.invalidArgs) { _ = try await ada.page("", cursor: "", count: count) }
        }
        let cursor = try await ada.page("all", cursor: "", count: 1).next
        #expect(!cursor.isEmpty)
        let garbage = [
            "garbage", "../..", " ", "\u{10ffff}", cursor + "0", String(cursor.dropLast()),
            "0" + cursor, String(repeating: "0", count: 100_000),
        ]
        for cursor in garbage {
            await expectError(.invalidArgs) {
                _ = try await ada.page("all", cursor: cursor, count: 1)
            }
        }
        await expectError(.invalidArgs) {
            _ = try await ada.page("album:sub", cursor: cursor, count: 1)
        }
        await expectError(.invalidArgs) { _ = try await bob.page("all", cursor: cursor, count: 1) }
        // A cursor of the default source is also valid with its ID.
        #expect(try await ada.page("", cursor: cursor, count: 1).photos.count == 1)
    }

    @Test func `unknown photos, sources and sizes are rejected`() async throws {
        let (_, ada, _) = try await start()
        let id = try await ada.firstID()
        for photo in ["", "../a.png", "/etc/passwd", "a.png", "0000000000000000", "-1", id + "0"] {
            await expectError(.notFound) { _ = try await ada.photo(photo) }
            await expectError(.notFound) { _ = try await ada.imagePath(photo, size: "full") }
            await expectError(.notFound) { _ = try await ada.openImage(photo, size: "full") }
        }
        for size in ["", "huge", "Full"] {
            await expectError(.invalidArgs) { _ = try await ada.imagePath(id, size: size) }
            await expectError(.invalidArgs) { _ = try await ada.openImage(id, size: size) }
        }
        for source in ["nothing", "album:", "album:..", "album:../Pictures", "album:/", "likes "] {
            await expectError(.notFound) { _ = try await ada.page(source, cursor: "", count: 1) }
            await expectError(.notFound) { _ = try await ada.refresh(source) }
            await expectError(.notFound) { try await ada.setDefaultSource(source) }
        }
    }

    @Test func `invalid logins are rejected`() async throws {
        let (client, ada, _) = try await start()
        let service = client.service
        await expectError(.notFound) { _ = try await service.startLogin("flickr", [:]) }
        await expectError(.notFound) { _ = try await service.startLogin("", [:]) }
        let wrong: [[LoginOption: Variant]] = [
            [:], [.username: .string("")], [.username: .uint32(1)],
            [.username: .string("eve"), .register: .string("yes")],
            [.username: .string("eve"), .password: .string("secret")],
            [.username: .string("eve"), .manual: .string("")],
            [.account: .string(ada.path.text)],
            [.username: .string(" eve")], [.username: .string("e\nve")],
            [.username: .string(String(repeating: "e", count: 65))],
        ]
        for options in wrong {
            await expectError(.invalidArgs) { _ = try await service.startLogin("local", options) }
        }
        await expectError(.notFound) {
            _ = try await service.startLogin(
                "local", [.account: .objectPath(ServiceName.accounts.appending("local_x"))])
        }
        await expectError(.notSupported) {
            _ = try await service.startLogin(
                "local", [.username: .string("eve"), .server: .string("example.org")])
        }
        let logins = try await client.service.objects().filter {
            $0.value[InterfaceName.login.text] != nil
        }
        // Only the logins of ada and bob exist.
        #expect(logins.count == 2)
    }

    @Test func `unsupported operations are rejected`() async throws {
        let (client, ada, _) = try await start()
        for photo in ["x", "", "local_bob/x", "/", "local_x/y"] {
            await expectError(.notFound) {
                try await client.proxy(ada.path).perform(.profile, "SetAvatar", photo)
            }
        }
        await expectError(.notSupported) {
            try await client.provider("local").configure([.clientID: .string("x")])
        }
    }
}
