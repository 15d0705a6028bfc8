import Contract
import DBus
import ProviderKit
import TestSupport
import Testing

/// Tests of a local user's calls, from the first login on.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UserTests {
    @Test func `a new user sees the photos, newest first`() async throws {
        try Pictures.add(["a", "b", "sub/c"])
        let (_, client) = try await startDaemon()
        let account = try await client.logIn("ada")
        #expect(account.path == ServiceName.accounts.appending("local_ada"))
        #expect(try await client.titles(account) == ["a", "b", "c"])
        let (photos, next) = try await account.page("all", cursor: "", count: 2)
        let photo = try #require(photos.first)
        #expect(photo["account"] == .objectPath(account.path))
        #expect(photo["liked"] == .bool(false))
        #expect(photo["pending"] == .bool(false))
        #expect(photo["created"] == .int64(1_700_000_000))
        #expect(photo["media_type"] == .string("image/png"))
        let rest = try await account.page("", cursor: next, count: 2)
        #expect(rest.photos.map { $0["title"]?.string } == ["c"])
        #expect(rest.next.isEmpty)
        let id = try #require(photo["id"]?.string)
        // A call waits for the image helper for half a second only.
        var whole = try await account.photo(id)
        try await poll {
            whole = try await account.photo(id)
            return whole["width"] != nil
        }
        #expect(whole["width"] == .uint32(1) && whole["height"] == .uint32(1))
        (whole.photo.width, whole.photo.height) = (photo.photo.width, photo.photo.height)
        #expect(whole == photo)
        let sources = try await account.sources()
        #expect(sources.map(\.id.text) == ["all", "likes", "memories", "album:sub"])
        #expect(sources.map(\.kind) == [.feed, .likes, .feed, .album])
        #expect(sources.map(\.count) == [3, 0, 0, 1])
        #expect(sources[0].cover == PhotoID(id))
        #expect(try await client.titles(account, source: "album:sub") == ["c"])
        let combined = try await client.service.combined.sources()
        #expect(combined.map(\.id.text) == ["all", "likes", "memories"])
    }

    @Test func `the settings of the user survive a restart`() async throws {
        let (first, client, account) = try await startWithUser(["a", "sub/b"])
        var daemon = first
        let other = try await client.logIn("bob")
        #expect(try await account.properties(.account)["Label"] == .string("ada"))
        // Two concurrent changes of one account must both be stored.
        async let label: Void = account.setLabel("Ada's")
        async let source: Void = account.setDefaultSource("album:sub")
        _ = try await (label, source)
        try await client.service.setDefaultAccount(other.path)
        let (photos, next) = try await account.page("all", cursor: "", count: 1)
        for isKilled in [false, true] {
            if isKilled { try await daemon.kill() } else { try await daemon.stop() }
            daemon = try await RunningDaemon()
            #expect(try await account.properties(.account)["Label"] == .string("Ada's"))
            let feed = try await account.properties(.feed)
            #expect(feed["DefaultSource"] == .string("album:sub"))
            #expect(try await client.titles(account) == ["b"])
            let manager = try await client.service.properties()
            #expect(manager["DefaultAccount"] == .objectPath(other.path))
            // IDs and cursors remain valid, too.
            let again = try await account.page("all", cursor: "", count: 1).photos
            #expect(again.map { $0["id"] } == photos.map { $0["id"] })
            let rest = try await account.page("all", cursor: next, count: 1)
            #expect(rest.photos.map { $0["title"]?.string } == ["b"])
        }
    }

    @Test func `logging out removes the feed and not the account`() async throws {
        let (_, client, account) = try await startWithUser(["a"])
        let removed = try await Signals(
            client.connection, ServiceName.root, "org.freedesktop.DBus.ObjectManager",
            "InterfacesRemoved")
        try await account.logout()
        let (path, interfaces): (ObjectPath, [String]) =
            try await removed.messages.elements(1)[0].read()
        #expect(path == account.path)
        #expect(Set(interfaces) == [InterfaceName.feed.text, InterfaceName.like.text])
        await expectError(.unknownInterface) { _ = try await client.titles(account) }
        #expect(try await account.properties(.account)["State"] == .string("logged-out"))
        #expect(try await account.properties(.profile)["Name"] == .string("ada"))
        try await account.logout()
        let again = try await client.logIn("ada", registers: false)
        #expect(again.path == account.path)
        #expect(try await client.titles(again) == ["a"])
    }

    @Test func `a second login of a local user prints the account again`() async throws {
        _ = try await RunningDaemon()
        let register = [
            "login", "local", "--username", "ada", "--register", "--password-file", "-",
        ]
        let login = ["login", "local", "--username", "ADA", "--password-file", "-"]
        for (arguments, password, status) in [
            (register, "right", Int32(0)), (login, "right", 0), (login, "wrong", 1),
            (register, "right", 1),
        ] {
            let result = try await Terminal.start(arguments, input: password).result()
            #expect(result.exit == .code(status))
            #expect(result.output == (status == 0 ? "local_ada\n" : ""))
            let isSecond = arguments == login && status == 0
            #expect(result.error.contains("already logged in") == isSecond, "\(result.error)")
        }
    }

    @Test func `a login object reports its result`() async throws {
        let (_, client) = try await startDaemon()
        let login = try await client.startLogin("local", [.username: .string("ada")])
        for _ in 0..<2 {
            await expectError(.noSuchUser) { _ = try await login.wait() }
        }
        try await login.cancel()
        let properties = try await login.properties()
        #expect(properties["State"] == .string("failed"))
        #expect(properties["Account"] == .objectPath(.root))
        let error = properties["Error"]?.fields.first
        #expect(error == .string(ServiceError.noSuchUser.name.text))
        await expectError(.notSupported) { try await login.openBrowser() }
        await expectError(.notSupported) { try await login.submitCode("1") }
    }
}
