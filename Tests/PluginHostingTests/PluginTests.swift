import Glibc
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Well-behaved plugins.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct PluginTests {
    @Test func `a plugin is started once on demand and ended when it is idle`() async throws {
        // Longer than a slow machine takes from one call to the next.
        let plugin = try PluginFixture(
            "show(os.getpid())", limits: .quick { $0.idling = .seconds(3) })
        #expect(plugin.log.value.isEmpty)
        async let first = plugin.shown()
        async let second = plugin.shown()
        #expect(try await first == second)
        try await plugin.logged("A plugin has ended")
        #expect(plugin.log.value.count { $0.contains("A plugin was started") } == 1)
        #expect(plugin.log.value.allSatisfy { !$0.contains("failed") })
        _ = try await plugin.shown()
        #expect(plugin.log.value.count { $0.contains("A plugin was started") } == 2)
    }

    @Test(arguments: ["1790000000000000", "-1e300", "99999999999999999999"])
    func `a time out of range is unknown, and the plugin continues`(time: String) async throws {
        let plugin = try PluginFixture(
            """
            write({"method": "rateLimit", "params":
                {"account": account, "remaining": 1, "limit": 2, "reset": \(time)}})
            write({"id": request["id"], "error": {"code": -32000, "message": "No.",
                "data": {"kind": "rate-limited", "until": \(time)}}})
            """)
        for _ in 1...2 {
            await #expect(throws: ProviderError.rateLimited(until: nil)) { try await plugin.page() }
        }
        #expect(plugin.log.value.count { $0.contains("A plugin was started") } == 1)
    }

    @Test(
        arguments: [
            (#""result": {"protocol": 1.0}"#, nil),
            (#""result": {}"#, "invalid result: initialize.protocol is missing."),
            (#""result": {"protocol": "1"}"#, "initialize.protocol is a string, not an integer."),
            (#""result": {"protocol": 2}"#, "does not support version 1 of the protocol"),
        ] as [(String, String?)])
    func `the answer to initialize has the version of the protocol`(
        _ answer: String, _ problem: String?
    ) async throws {
        let plugin = try PluginFixture(program: Self.program(initialize: answer))
        if let problem {
            await plugin.expectFailure(problem)
        } else {
            #expect(try await plugin.page().photos.isEmpty)
        }
    }

    @Test func `the reason of a refused start has one full stop`() async throws {
        let plugin = try PluginFixture(
            program: Self.program(
                initialize:
                    #""error": {"code": -32000, "message": "No.", "data": {"kind": "failed"}}"#))
        await plugin.expectFailure("No.")
        try await plugin.logged("it refused the call initialize: No")
        #expect(!plugin.log.value.contains { $0.contains("initialize: No.") })
    }

    /// Returns a plugin without photos, with a part of its answer to `initialize`.
    private static func program(initialize: String) -> String {
        """
        import json, sys
        for line in sys.stdin:
            request = json.loads(line)
            answer = {"result": {"photos": []}}
            if request["method"] == "initialize": answer = {\(initialize)}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
        """
    }

    @Test func `HTTP requests of a plugin are sent by the daemon`() async throws {
        let http = ScriptedHTTP { request in
            HTTPResponse(
                status: 200, headers: ["X-Total": "7"], body: [0xff, 0xfe], url: request.url)
        }
        let plugin = try PluginFixture(
            """
            reply = ask("http", {"account": account, "url": "https://example.org/a", "method": "POST",
                "headers": [["X-A", "b"]], "body": "c"})["result"]
            show([reply["status"], reply["headers"], reply["body_base64"]])
            """, http: http)
        #expect(try await plugin.shown() == "[200, [['X-Total', '7']], '//4=']")
        let request = try #require(http.requests.value.first)
        #expect(request.method == .post)
        #expect(request.body == Array("c".utf8))
        #expect(request.headers["x-a"] == "b")
        #expect(request.addressSource == .service)
    }

    @Test func `a plugin is told of a cancelled call, whose late result is ignored`() async throws {
        let plugin = try PluginFixture(
            """
            write({"method": "log", "params": {"message": "asked"}})
            note = json.loads(sys.stdin.readline())
            write({"method": "log", "params": {"message": note["method"]}})
            show("late")
            """)
        let call = Task { try await plugin.page() }
        try await plugin.logged("asked")
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await plugin.logged("Odd photos: cancel")
        #expect(!plugin.log.value.contains { $0.contains("failed") })
    }

    @Test(arguments: [nil, "false", "yes", "true"])
    func `a location is shown only if the user allows it`(setting: String?) async throws {
        let plugin = try PluginFixture(
            """
            photo = {"id": "1", "title": "a", "latitude": 48.5, "longitude": -2.25}
            answer(photo if request["method"] == "photo" else {"photos": [photo, {"id": "2"}]})
            """, settings: setting.map { ["ShowLocation": $0] } ?? [:])
        let isShown = setting == "true"
        let photos = [
            try #require(try await plugin.page().photos.first).photo,
            try await plugin.session.fetchPhoto(PhotoID("1")).photo,
        ]
        for photo in photos {
            #expect(photo.title == "a")
            #expect(photo.latitude == (isShown ? 48.5 : nil))
            #expect(photo.longitude == (isShown ? -2.25 : nil))
        }
    }

    @Test func `a session has likes only if the manifest names them`() throws {
        let session: any Session = try PluginFixture().session
        #expect(session.remoteFeed != nil)
        #expect(session.remoteLikes == nil)
        let liking: any Session = try PluginFixture(capabilities: "feed;like;").session
        #expect(liking.remoteLikes != nil)
    }

    @Test func `a plugin without an available sandbox does not run`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(ManifestTests.good, to: "providers/good.provider")
        let host = PluginHost(of: directory.appending("providers"), confinements: [])
        host.start()
        let condition = try #require(host.providers.first).condition
        #expect(condition.state == .disabled)
        #expect(condition.reason.contains("AllowUnsandboxed"))
        #expect(condition.sandbox.isEmpty)
    }

    @Test func `added, changed and removed manifests are detected`() async throws {
        let directory = try TemporaryDirectory()
        let host = PluginHost(of: directory.appending("a/providers"))
        let told = Observed<[String]>()
        host.onChange = { change in
            for id in change.removed { told.append("- \(id)") }
            for provider in change.added {
                told.append("+ \(provider.info.id) \(provider.info.name)")
            }
        }
        host.start()
        #expect(host.providers.isEmpty)
        try directory.write(ManifestTests.good, to: "a/providers/good.provider")
        try await told.wait { $0 == ["+ good Good photos"] ? true : nil }
        try directory.write(
            ManifestTests.good.replacing("Good photos", with: "Better photos"),
            to: "a/providers/good.provider")
        try await told.wait { $0.last == "+ good Better photos" ? true : nil }
        unlink(directory.appending("a/providers/good.provider"))
        try await told.wait { $0.last == "- good" ? true : nil }
        #expect(host.providers.isEmpty)
    }

    @Test func `a change of the program in a folder below the manifest is detected`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            ManifestTests.good.replacing("--serve", with: "./good/serve"),
            to: "providers/good.provider")
        try directory.write("1", to: "providers/good/serve")
        let host = PluginHost(of: directory.appending("providers"))
        let added = Observed<[String]>()
        host.onChange = { change in change.added.forEach { added.append($0.info.id) } }
        host.start()
        try await added.wait { $0.count >= 1 ? true : nil }
        try directory.write("second", to: "providers/good/serve")
        try await added.wait { $0.count >= 2 ? true : nil }
        // A folder that replaces the first one is watched, too.
        rename(directory.appending("providers/good"), directory.appending("providers/old"))
        try directory.write("the third", to: "providers/good/serve")
        try await poll { host.providers.first?.condition.state == .ready && added.value.count >= 3 }
        let count = added.value.count
        try directory.write("the fourth one", to: "providers/good/serve")
        try await added.wait { $0.count > count ? true : nil }
    }
}
