import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests of the signals of the daemon.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct SignalTests {
    @Test func `a new photo is announced and in the next page`() async throws {
        try Pictures.add("b.png", age: 10)
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        for _ in 0..<3 { #expect(try await client.titles(account) == ["b"]) }
        try Pictures.add("a.png")
        let (source, new): (String, UInt32) = try await updates.messages.elements(1)[0].read()
        #expect(source == "all")
        #expect(new == 1)
        for _ in 0..<3 { #expect(try await client.titles(account) == ["a", "b"]) }
        try await daemon.stop()
    }

    @Test func `a removed photo is announced and in no page`() async throws {
        try Pictures.add(["a", "b"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let photos = try await account.page("", cursor: "", count: 2).photos
        let id = try #require(photos.first?["id"]?.string)
        let removed = try await Signals(client.connection, account.path, .feed, "PhotosRemoved")
        try Pictures.remove("a.png")
        let ids: [String] = try await removed.messages.elements(1)[0].read()
        #expect(ids == [id])
        #expect(try await client.titles(account) == ["b"])
        await expectError(ServiceError.notFound.name) { _ = try await account.photo(id) }
        try await daemon.stop()
    }

    @Test func `a walk is complete while files are added and removed`() async throws {
        let names = (10..<40).map { "\($0)" }
        try Pictures.add(names)
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        let removed = try await Signals(client.connection, account.path, .feed, "PhotosRemoved")
        var found: [String] = []
        var cursor = ""
        for step in 1...10 {
            let page = try await account.page("all", cursor: cursor, count: 3)
            found += page.photos.compactMap { $0["title"]?.string }
            cursor = page.next
            // One photo is added at the top, and the photo at the cursor is removed.
            try Pictures.add("new\(step).png", age: -Double(step))
            let last = try #require(found.last)
            try Pictures.remove("\(last).png")
            try await updates.messages.wait { messages in
                let new = messages.compactMap { message -> UInt32? in
                    let change: (String, UInt32)? = try? message.read()
                    return change?.1
                }
                return new.reduce(0, +) >= step ? true : nil
            }
            try await removed.messages.wait { messages in
                let ids = messages.compactMap { message -> [String]? in try? message.read() }
                return ids.joined().count >= step ? true : nil
            }
        }
        #expect(found == names)
        #expect(cursor.isEmpty)
        try await daemon.stop()
    }

    @Test func `changed properties are announced and equal ones are not`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let changes = try await Signals(
            client.connection, account.path, "org.freedesktop.DBus.Properties",
            "PropertiesChanged")
        try await account.setLabel("ada")
        try await account.setLabel("A")
        try await account.setLabel("A")
        try await account.setLabel("B")
        let messages = try await changes.messages.wait { messages in
            let labels = messages.compactMap { message -> String? in
                let change: (String, [String: Variant], [String])? = try? message.read()
                return change?.1["Label"]?.string
            }
            return labels.last == "B" ? messages : nil
        }
        let changed: [(String, [String: Variant], [String])] = try messages.map { try $0.read() }
        // The avatar is drawn in the background and announced when it is ready.
        let others = changed.filter { $0.0 != InterfaceName.profile.text }
        for change in others {
            #expect(change.0 == InterfaceName.account.text)
            #expect(Array(change.1.keys) == ["Label"])
        }
        #expect(others.count == 2)
        #expect(changed.filter { $0.0 == InterfaceName.profile.text }.count <= 1)
        try await daemon.stop()
    }

    @Test func `a logged-in account never has the state logged-out`() async throws {
        try Pictures.add(["a"])
        var daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let changes = try await Signals(
            client.connection, account.path, "org.freedesktop.DBus.Properties",
            "PropertiesChanged")
        try await daemon.stop()
        daemon = try await RunningDaemon(["--log-level", "info"])
        try await client.waitUntilReady(account)
        try Pictures.add("b.png", folder: "home/Other")
        try PrivateBus.current.directory.write(
            "[Provider local]\nDirectory=Other\n",
            to: "home/.config/imagefeed/imagefeed.conf")
        daemon.process.kill(SIGHUP)
        try await daemon.process.standardError.wait { output in
            output.text.contains("The configuration was read again") ? true : nil
        }
        try await client.waitUntilReady(account)
        let states = changes.messages.value.compactMap { message -> String? in
            let change: (String, [String: Variant], [String])? = try? message.read()
            return change?.1["State"]?.string
        }
        #expect(!states.contains("logged-out"))
        try await daemon.stop()
    }

    @Test func `a client that never reads does not block others`() async throws {
        try Pictures.add((0..<30).map { "\($0)" })
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let flood = try FloodingClient(PrivateBus.current.address)
        try flood.flood(5000, ServiceName.bus, account.path, .feed)
        /// Returns the number of photos, without a time limit: calls of the other client may be handled first.
        func count() async throws -> Int {
            let (photos, _): ([[String: Variant]], String) = try await client.proxy(account.path)
                .call(.feed, "GetPage", "", "", 100 as UInt32, timeout: nil)
            return photos.count
        }
        for _ in 0..<20 { #expect(try await count() == 30) }
        // The client also got replies: more than one page.
        while flood.unreadBytes < 10_000 { _ = try await count() }
        try await daemon.stop()
        _ = consume flood
    }

    @Test func `clients that disconnect during a call do not affect others`() async throws {
        try Pictures.add(["a"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        for _ in 0..<50 {
            let caller = try TestClient()
            let call = Task.immediate {
                try await caller.service.account(account.path).refresh("all")
            }
            caller.connection.flush()
            call.cancel()
            _ = await call.result
            try FloodingClient(PrivateBus.current.address)
                .flood(20, ServiceName.bus, account.path, .feed)
        }
        #expect(try await client.titles(account) == ["a"])
        try await daemon.stop()
    }
}
