import Contract
import DBus
import TestSupport
import Testing

/// Tests of the signals of the daemon.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SignalTests {
    @Test func `new and removed photos are announced, and pages are current`() async throws {
        try Pictures.add("b.png", age: 10)
        let (_, client, account) = try await startWithUser()
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        let removed = try await Signals(client.connection, account.path, .feed, "PhotosRemoved")
        for _ in 0..<3 { #expect(try await client.titles(account) == ["b"]) }
        try Pictures.add("a.png")
        let (source, new): (String, UInt32) = try await updates.messages.elements(1)[0].read()
        #expect((source, new) == ("all", 1))
        for _ in 0..<3 { #expect(try await client.titles(account) == ["a", "b"]) }
        let id = try await account.firstID()
        try Pictures.remove("a.png")
        let ids: [String] = try await removed.messages.elements(1)[0].read()
        #expect(ids == [id])
        #expect(try await client.titles(account) == ["b"])
        await expectError(.notFound) { _ = try await account.photo(id) }
    }

    @Test func `a walk is complete while files are added and removed`() async throws {
        let names = (10..<40).map { "\($0)" }
        let (_, client, account) = try await startWithUser(names)
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
    }

    @Test func `a reload shows another folder, never in the state logged-out`() async throws {
        let (first, client, account) = try await startWithUser(["a"])
        let changes = try await Signals(propertiesOf: account.path, client.connection)
        try await first.stop()
        let daemon = try await RunningDaemon(["--log-level", "info"])
        try await client.waitUntilReady(account)
        try Pictures.add("b.png", folder: "home/Other")
        try await daemon.configure("[Provider local]\nDirectory=Other\n")
        try await client.waitUntilReady(account)
        try await poll { try await client.titles(account) == ["b"] }
        let states = changes.propertyChanges.compactMap { $0.values["State"]?.string }
        #expect(!states.contains("logged-out"))
    }
}
