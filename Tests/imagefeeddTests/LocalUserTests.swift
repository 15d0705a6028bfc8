import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing

/// Tests of several local users of one computer, with names, likes and albums.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct LocalUserTests {
    private nonisolated static func announcesLike(_ message: BusMessage) -> Bool {
        let change: (String, [String: Variant])? = try? message.read()
        return change?.1["liked"] == .bool(true)
    }

    @Test func `a login without options creates or logs in the only user`() async throws {
        try Pictures.add(["a"])
        _ = try await RunningDaemon()
        let empty = try await Terminal.run("status")
        #expect(empty.exit == .code(0))
        #expect(empty.error.contains("“imagefeedctl login local”"))
        let login = try await Terminal.run("login", "local")
        #expect(login.exit == .code(0))
        let account = login.output.trimmingCharacters(in: .newlines)
        #expect(account.hasPrefix("local_"))
        #expect(login.error == "List the photos with “imagefeedctl feed”.\n")
        #expect(Terminal.photos(try await Terminal.output("feed")).count == 1)
        #expect(try await Terminal.run("status").error == "")
        #expect(try await Terminal.run("login", "local").output == login.output)
        _ = try await Terminal.output("logout", "--yes", account)
        #expect(try await Terminal.run("login", "local").output == login.output)
        let second = try await Terminal.run(
            "login", "local", "--username", "zoë", "--register", "--no-password")
        #expect(second.error.contains(" --account local_z”"))
        #expect(try await Terminal.run("login", "local").exit == .code(64))
    }

    @Test func `accounts and likes of the command line survive a restart`() async throws {
        try Pictures.add(["a", "Holidays/b", "Holidays/Sea/c"])
        let daemon = try await RunningDaemon()
        let login = ["login", "local", "--username", "Ада", "--password-file", "-"]
        let account = "local__d0_90_d0_b4_d0_b0"
        let registered = try await Terminal.start(login + ["--register"], input: "geheim\n")
            .result()
        #expect(registered.output == "\(account)\n", "\(registered.error)")
        _ = try await Terminal.output("login", "local", "--register", "--username", "bob")
        let sources = try await Terminal.output("sources", "--account", account)
        for album in ["album:Holidays\talbum\t1\tHolidays", "album:Holidays/Sea\talbum\t1\t"] {
            #expect(sources.contains(album), "\(sources)")
        }
        let sea = Terminal.photos(
            try await Terminal.output(
                "feed", "--account", account, "--source", "album:Holidays/Sea"))
        #expect(sea.count == 1)
        #expect(try await Terminal.output("like", sea[0]) == "\(sea[0])\tliked\tdone\n")
        #expect(try await Terminal.output("likes", "--account", "local_bob") == "")
        _ = try await Terminal.output("logout", account, "--yes")
        try await daemon.stop()

        _ = try await RunningDaemon()
        let accounts = try await Terminal.output("accounts")
        #expect(accounts.contains("\(account)\t"), "\(accounts)")
        #expect(accounts.contains("logged-out"), "\(accounts)")
        _ = try await Terminal.start(login, input: "geheim").result()
        #expect(Terminal.photos(try await Terminal.output("likes", "--account", account)) == sea)
        #expect(try await Terminal.output("unlike", sea[0]) == "\(sea[0])\tnot liked\tdone\n")

        _ = try await Terminal.output("remove", account, "--yes")
        #expect(try await !Terminal.output("accounts").contains(account))
        let pictures = try PrivateBus.current.directory.appending(Pictures.home)
        #expect(FileManager.default.fileExists(atPath: "\(pictures)/Holidays/Sea/c.png"))
    }

    @Test func `a like and the removal of an album are announced`() async throws {
        try Pictures.add(["a", "Sea/b"])
        // A different content, because the daemon would recognise a copy.
        let file = try PrivateBus.current.directory.appending("\(Pictures.home)/Sea/b.png")
        try (Pictures.png + Data([1])).write(to: URL(filePath: file))
        let (_, client, ada) = try await startWithUser()
        let bob = try await client.logIn("bob")
        try await client.waitUntilReady(ada)
        try await ada.setDefaultSource("album:Sea")
        let ids = try await ada.ids(count: 1)
        let changed = try await Signals(client.connection, ada.path, .like, "Changed")
        let photos = try await Signals(client.connection, ada.path, .feed, "PhotoChanged")
        let others = try await Signals(client.connection, bob.path, .feed, "PhotoChanged")
        #expect(try await ada.like(ids[0]) == .done)
        let (photo, isLiked, _): (String, Bool, UInt32) = try await changed.messages.elements(1)[0]
            .read()
        #expect((photo, isLiked) == (ids[0], true))
        // The metadata of files is read at the same time, which also changes photos.
        try await photos.messages.wait { $0.contains(where: Self.announcesLike) ? true : nil }
        #expect(try await ada.page("", cursor: "", count: 1).photos[0]["liked"] == .bool(true))
        #expect(
            try await bob.page("album:Sea", cursor: "", count: 1).photos[0]["liked"] == .bool(false)
        )
        #expect(!others.messages.value.contains(where: Self.announcesLike))

        let folder = try PrivateBus.current.directory.appending(Pictures.home)
        try FileManager.default.moveItem(atPath: "\(folder)/Sea", toPath: "\(folder)/See")
        try await client.wait(ada.path, .feed, "DefaultSource", .string("all"))
        // The folder may be found at its new place after the removal from the old one.
        try await poll { try await client.titles(ada, source: "likes") == ["b"] }
        try FileManager.default.moveItem(atPath: "\(folder)/See", toPath: "\(folder)/Sea")
        try await client.wait(ada.path, .feed, "DefaultSource", .string("album:Sea"))
        try Pictures.remove("Sea/b.png")
        try await client.wait(ada.path, .feed, "DefaultSource", .string("all"))
        try await client.wait(ada.path, .like, "Count", .uint32(0))
    }

    @Test func `the photos in a renamed folder are announced together`() async throws {
        let names = (1...12).map { "Sea/\($0)" }
        let (_, client, ada) = try await startWithUser(names)
        let folder = try PrivateBus.current.directory.appending(Pictures.home)
        for path in [ada.path, ServiceName.combined] {
            let account = ServiceClient(client.connection).account(path)
            let ids = try await account.page("", cursor: "", count: 20).photos.map { $0["id"] }
            #expect(ids.count == names.count)
            let changes = try await Signals(client.connection, path, .feed, "PhotosChanged")
            let album = path == ada.path ? "See" : "Lake"
            let old = path == ada.path ? "Sea" : "See"
            try FileManager.default.moveItem(
                atPath: "\(folder)/\(old)", toPath: "\(folder)/\(album)")
            let photos = try await changes.messages.wait { messages in
                messages.lazy.compactMap { message -> [[String: Variant]]? in
                    let photos: [[String: Variant]]? = try? message.read()
                    return photos?.first?["album"] == .string(album) ? photos : nil
                }.first
            }
            #expect(Set(photos.map { $0["id"] }) == Set(ids))
            #expect(photos.allSatisfy { $0["account"] == .objectPath(ada.path) })
        }
    }
}
