import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Tests of installed plugins.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct PluginTests {
    @Test(arguments: [false, true])
    func `a plugin that was just installed is found`(byCommand: Bool) async throws {
        let fixture = try PluginContext()
        try fixture.configure()
        _ = try await RunningDaemon()
        if !byCommand { await expectError(.notFound) { _ = try await fixture.logIn() } }
        try fixture.installRSS()
        if byCommand {
            let address = "\(fixture.server.origin)/feed.xml"
            let account = try await Terminal.output("login", "rss", "--username", address)
            #expect(account.hasPrefix("rss_"))
        } else {
            _ = try await fixture.logIn()
        }
        try fixture.installInvalid()
        if byCommand {
            let (exit, _, error) = try await Terminal.run("configure", "odd", "--client-id", "a")
            #expect(exit == .code(1))
            #expect(error.contains("Sources in [Provider] is missing."), "\(error)")
        } else {
            let odd = try await fixture.client.provider("odd").properties()
            #expect(odd["State"] == .string("invalid"))
        }
    }

    @Test func `the settings of a plugin that was just installed are not reported`() async throws {
        let daemon = try await RunningDaemon(["--log-level", "info"])
        try PrivateBus.current.directory.write(
            "[Provider]\nId=odd\n", to: "home/.local/share/imagefeed/providers/odd.provider")
        try await daemon.configure("[Provider odd]\nTitle=short\n")
        #expect(!daemon.process.standardError.value.text.contains("there is no such provider"))
    }

    @Test func `accounts of a Python plugin with long IDs have all photos`() async throws {
        let fixture = try await PluginContext.start().fixture
        // Each `%` takes three bytes in the ID.
        let accounts = [
            try await fixture.logIn(query: "?" + String(repeating: "%", count: 200) + "1"),
            try await fixture.logIn(query: "?" + String(repeating: "%", count: 200) + "2"),
        ]
        var images: Set<String> = []
        for account in accounts {
            let (photos, next) = try await account.page("", cursor: "", count: 10)
            #expect(photos.map { $0["title"]?.string } == ["Second & last", "First"])
            #expect(photos[0]["created"] == .int64(1_790_000_000))
            #expect(photos[1]["author"] == .string("Ada"))
            #expect(next.isEmpty)
            let id = photos[0].id
            let path = try await account.imagePath(id, size: "full")
            #expect(path.hasPrefix(try PrivateBus.current.directory.appending("home/.cache")))
            #expect(FileManager.default.contents(atPath: path) == Pictures.png)
            images.insert(path)
            let saved = "saved\(images.count)"
            let transfer = try await account.download(id, to: try Destination.file(saved))
            try await fixture.client.service.transfer(transfer).wait()
            #expect(try Destination.content(saved) == Array(Pictures.png))
        }
        #expect(images.count == 2)
        // The cached data of an account are deleted with it.
        try await accounts[0].logout()
        #expect(images.filter { access($0, F_OK) == 0 }.count == 1)
    }

    @Test(arguments: ["", "Title=short\n"])
    func `accounts remain while plugins are added or removed`(settings: String) async throws {
        var fixture = try PluginContext()
        fixture.settings = settings
        try fixture.configure()
        let daemon = try await RunningDaemon()
        let added = try await fixture.signals("InterfacesAdded")
        let removed = try await fixture.signals("InterfacesRemoved")
        await expectError(.notFound) { _ = try await fixture.logIn() }
        try fixture.installRSS()
        try await fixture.waitForProvider(added)
        let account = try await fixture.logIn()
        #expect(try await fixture.client.titles(account) == ["Second & last", "First"])
        let photo = try await account.firstID()
        try fixture.uninstallRSS()
        try await fixture.waitForProvider(removed)
        try await fixture.client.wait(account.path, .account, "State", .string("failed"))
        let reason = try await account.properties(.account)["StateReason"]?.string
        #expect(reason?.contains("Photo feeds") == true)
        let calls: [() async throws -> Void] = [
            { _ = try await account.refresh() },
            { _ = try await account.imagePath(photo, size: "full") },
            {
                let transfer = try await account.download(photo, to: try Destination.file("saved"))
                try await fixture.client.service.transfer(transfer).wait()
            },
        ]
        for call in calls {
            let reply = await errorReply(call)
            #expect(reply?.name == ServiceError.serviceFailed.name)
            #expect(reply?.message.contains("no longer installed") == true)
        }
        #expect(try await fixture.client.titles(account) == ["Second & last", "First"])
        try await daemon.stop()
        // The accounts also survive a restart.
        _ = try await RunningDaemon()
        try await fixture.client.wait(account.path, .account, "State", .string("failed"))
        #expect(try await account.properties(.feed)["DefaultSource"] == .string("feed"))
        #expect(try await fixture.client.titles(account) == ["Second & last", "First"])
        let listed = try await fixture.signals("InterfacesAdded")
        try fixture.installInvalid("rss")
        try await fixture.waitForProvider(listed)
        try await fixture.client.wait(account.path, .account, "State", .string("failed"))
        #expect(try await fixture.client.titles(account) == ["Second & last", "First"])
        try fixture.installRSS()
        try await fixture.client.waitUntilReady(account)
        #expect(try await account.refresh("") == 0)
    }

    @Test func `an invalid manifest is listed and does not affect others`() async throws {
        let fixture = try PluginContext()
        try fixture.installRSS()
        try fixture.installInvalid()
        _ = try await RunningDaemon()
        let (exit, list, error) = try await Terminal.run("providers")
        #expect(exit == .code(0), "\(error)")
        #expect(list.contains("rss\tPhoto feeds (RSS and Atom)\tnone\tready\tbubblewrap\t"))
        #expect(list.contains("odd\todd\tnone\tinvalid\t"))
        #expect(list.contains("unsplash\tUnsplash\toauth2\t"))
        let odd = fixture.client.provider("odd")
        let reason = try await odd.properties()["StateReason"]
        #expect(reason == .string("Sources in [Provider] is missing."))
        await expectError(.notSupported) {
            _ = try await fixture.client.service.startLogin("odd", [:])
        }
    }

    @Test(.timeLimit(.minutes(10))) func `repeated changes of a manifest leak no descriptors`()
        async throws
    {
        let (fixture, daemon) = try await PluginContext.start()
        let account = try await fixture.logIn()
        var known = 0
        for round in 0..<6 {
            let added = try await fixture.signals("InterfacesAdded")
            try fixture.installManifest(comment: "\(round)")
            try await fixture.waitForProvider(added)
            try await fixture.client.waitUntilReady(account)
            _ = try await account.refresh("")
            if round == 1 { known = try daemon.descriptors().count }
        }
        // The second-last process takes some time to end.
        try await poll { try daemon.descriptors().count <= known }
    }
}

/// A feed on loopback and a folder for plugins.
@MainActor
struct PluginContext {
    let server: LoopbackServer
    let client: TestClient
    /// Additional lines of the configuration of the example.
    var settings = ""

    init() throws {
        let png = Array(Pictures.png)
        server = try LoopbackServer { request in
            switch request.target.split(separator: "?").first {
            case "/feed.xml": LoopbackResponse(text: Self.feed(request.origin))
            case "/1.png", "/2.png":
                LoopbackResponse(
                    headers: [("Content-Type", "image/png")], body: png)
            default: LoopbackResponse(404, text: "")
            }
        }
        client = try TestClient()
    }

    /// Installs the example, and starts a daemon.
    static func start() async throws -> (fixture: PluginContext, daemon: RunningDaemon) {
        let fixture = try PluginContext()
        try fixture.installRSS()
        return (fixture, try await RunningDaemon())
    }

    nonisolated private static func feed(_ origin: String) -> String {
        """
        <?xml version="1.0"?>
        <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Ada’s photos</title>
        <item><title>Second &amp;amp; last</title><guid>two</guid><pubDate>Mon, 21 Sep 2026 14:13:20 GMT</pubDate>
          <enclosure url="\(origin)/2.png" type="image/png" length="1"/></item>
        <item><title>First</title><guid>one</guid><dc:creator>Ada</dc:creator>
          <description>&lt;p&gt;&lt;img src="\(origin)/1.png"&gt;&lt;/p&gt;</description></item>
        <item><title>No picture</title><guid>none</guid></item>
        </channel></rss>
        """
    }

    /// Allows manifests to name hosts on loopback.
    func configure() throws {
        try RunningDaemon.configure("[Provider rss]\nAllowLoopback=true\n\(settings)")
    }

    /// Installs the example, with a host on loopback.
    func installRSS() throws {
        try configure()
        try HostedProvider.installExample("rss", script: "rss.py", addHost)
    }

    /// Installs a manifest without sources.
    func installInvalid(_ id: String = "odd") throws {
        try HostedProvider.writeManifest("[Provider]\nId=\(id)\n", of: id)
    }

    func installManifest(comment: String = "") throws {
        let manifest = try HostedProvider.example("rss", "rss.provider")
        try HostedProvider.writeManifest(addHost(manifest) + "# \(comment)\n", of: "rss")
    }

    private func addHost(_ manifest: String) -> String {
        manifest.replacing("Hosts=*;", with: "Hosts=*;\(server.origin);")
    }

    func uninstallRSS() throws {
        try FileManager.default.removeItem(
            atPath: PrivateBus.current.directory.appending(
                "home/.local/share/imagefeed/providers/rss.provider"))
    }

    /// Subscribes to a signal of the object manager.
    func signals(_ member: MemberName) async throws -> Signals {
        try await Signals(
            client.connection, ServiceName.root, "org.freedesktop.DBus.ObjectManager", member)
    }

    /// Waits until such a signal is about the example.
    func waitForProvider(_ signals: Signals) async throws {
        let path = ServiceName.providers.appending("rss")
        try await signals.messages.wait { messages in
            messages.contains { message in
                if let added: (ObjectPath, [String: [String: Variant]]) = try? message.read() {
                    return added.0 == path
                }
                let removed: (ObjectPath, [String])? = try? message.read()
                return removed?.0 == path
            } ? true : nil
        }
    }

    func logIn(query: String = "") async throws -> AccountClient {
        try await client.logIn(to: "rss", [.username: .string("\(server.origin)/feed.xml\(query)")])
    }
}
