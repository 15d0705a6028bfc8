import LoopbackHTTP
import TestSupport
import Testing

/// `imagefeedctl provider test` with the built programs.
@Suite(.timeLimit(.minutes(2))) @MainActor
struct ProviderTestTests {
    @Test func `a plugin that keeps to the rules passes`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let (exit, report) = try await folder.test("odd", ["--username", "ada"])
        #expect(exit == .code(0))
        #expect(report.result == "passed")
        #expect(report.checks("failed", "warning", "skipped").map(\.findings) == [])
        let names = report.checks.map(\.name)
        for name in [
            "Manifest", "Sandbox", "initialize", "identify", "sources", "page, source home",
            "Photos as shown", "photo", "Images", "Unknown photo", "Unknown place",
            "Two calls at a time", "Restart", "Requests on the web", "System calls",
            "Time of calls", "Messages", "End",
        ] {
            #expect(names.contains(name))
        }
        #expect(try Set(report.checks.map(\.section)).isSubset(of: PluginFolder.headings()))
    }

    @Test func `the example in Python passes`() async throws {
        let folder = try PluginFolder { request in
            guard request.target == "/feed.xml" else {
                return PluginFolder.image
            }
            return LoopbackResponse(
                text: """
                    <rss version="2.0"><channel><title>Ada</title><item><title>Fog</title>
                    <guid>one</guid><enclosure url="\(request.origin)/1.png" type="image/png"
                    length="1"/></item></channel></rss>
                    """)
        }
        try folder.writeExample("rss", script: "rss.py")
        let (exit, report) = try await folder.test(
            "rss", ["--username", "\(folder.server.origin)/feed.xml"])
        #expect(exit == .code(0))
        #expect(report.checks("failed", "warning").map(\.findings) == [])
    }

    @Test func `the example in Swift passes with a key, and a wrong key is not its fault`()
        async throws
    {
        let folder = try PluginFolder { request in
            let key = request.headers.first { $0.name.lowercased() == "x-api-key" }?.value
            guard key == "KEY" else { return LoopbackResponse(401, json: "{}") }
            let asset = #"{"id":"a1","originalFileName":"Fog.jpg","isFavorite":false}"#
            return switch (request.method, request.target) {
            case ("GET", "/api/users/me"):
                LoopbackResponse(json: #"{"email":"ada@example.org","name":"Ada"}"#)
            case ("GET", "/api/albums"): LoopbackResponse(json: "[]")
            case ("POST", "/api/search/metadata"):
                LoopbackResponse(json: #"{"assets":{"items":[\#(asset)],"nextPage":null}}"#)
            case ("GET", "/api/assets/a1"): LoopbackResponse(json: asset)
            case ("GET", _) where request.target.hasPrefix("/api/assets/a1/"):
                PluginFolder.image
            default: LoopbackResponse(404, json: "{}")
            }
        }
        try folder.writeExample("photo_server", script: nil)
        let arguments = ["--server", folder.server.origin, "--password-file", "-"]
        let (exit, report) = try await folder.test("photo_server", arguments, input: "KEY\n")
        #expect(exit == .code(0))
        #expect(report.checks("failed").map(\.findings) == [])
        #expect(report.checks("skipped").map(\.name) == ["setLiked"])
        // No request changes anything at the service.
        #expect(!folder.server.requests.value.contains { ["PUT", "DELETE"].contains($0.method) })
        let (denied, other) = try await folder.test("photo_server", arguments, input: "WRONG\n")
        #expect(denied == .code(77))
        #expect(other.checks("failed").map(\.findings) == [])
    }

    @Test func `without an account, the report says that calls were not tested`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let (exit, report) = try await folder.test("odd", [])
        #expect(exit == .code(0))
        let skipped = try #require(report.checks("skipped").first)
        #expect(skipped.findings.first?.contains("--username") == true)
        #expect(report.checks.contains { $0.name == "End" && $0.result == "passed" })
    }

    /// A plugin with one fault.
    struct Fault: CustomTestStringConvertible {
        let name: String
        var opening = ""
        var body = "pass"
        var ending = ""
        /// The section of the manual page that has the rule.
        let section: String
        /// A part of the finding.
        let text: String
        var isWarning = false

        var testDescription: String { name }
    }

    nonisolated static let faults = [
        Fault(
            name: "output that is not JSON",
            body: "if method == 'page': print('hello', flush=True); continue",
            section: "THE PROTOCOL", text: "hello"),
        Fault(
            name: "pages without an end", opening: "counter = 100",
            body: """
                if method == 'page':
                    counter += 1
                    answer({"photos": [photo(counter)], "next": "2"})
                    continue
                """, section: "Calls of the daemon", text: "occurs twice"),
        Fault(
            name: "a photo on two pages",
            body: """
                if method == 'page' and place == '2':
                    answer({"photos": [photo(10)]})
                    continue
                """, section: "Calls of the daemon", text: "on two pages"),
        Fault(
            name: "a host that is not in the manifest",
            body: "if method == 'page' and place == '1': ask({'url': 'https://example.org/feed'})",
            section: "What a program asks and tells", text: "https://example.org/feed"),
        Fault(
            name: "a page with too many photos",
            body: """
                if method == 'page' and place == '1':
                    answer({"photos": [photo(index) for index in range(501)]})
                    continue
                """, section: "Calls of the daemon", text: "501"),
        Fault(
            name: "a message that is too long",
            body: "if method == 'page': answer({'photos': [], 'pad': 'x' * (9 << 20)}); continue",
            section: "LIMITS", text: "The plugin failed"),
        Fault(
            name: "a system call that is denied",
            opening: """
                try: socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                except OSError: pass
                """, section: "CONFINEMENT", text: "socket", isWarning: true),
        Fault(
            name: "an exit at the start", opening: "sys.exit(3)", section: "THE PROTOCOL",
            text: "status 3"),
        Fault(
            name: "a text with control characters",
            body: """
                if method == 'page':
                    answer({"photos": [{**photo(10), "title": "a\\u0007b"}]})
                    continue
                """, section: "Photos", text: "“title”", isWarning: true),
        Fault(
            name: "an image at another host",
            body: """
                if method == 'page':
                    answer({"photos": [{"id": "10", "images": {"full": "https://example.org/1"}}]})
                    continue
                if method == 'image': answer({"url": "https://example.org/1"}); continue
                """, section: "The group Provider", text: "https://example.org"),
        Fault(
            name: "an image that is not an image",
            body: """
                if method == 'page':
                    shown = photo(10)
                    shown["images"]["full"] = shown["images"]["full"].replace("photo.jpg", "text")
                    answer({"photos": [shown]})
                    continue
                """, section: "Photos", text: "not an image"),
        Fault(
            name: "an unknown photo that is a failure",
            body:
                "if method == 'photo' and not params['photo'].isdigit(): refuse('failed'); continue",
            section: "Errors", text: "not-found"),
        Fault(
            name: "other IDs after a restart", opening: "number = int.from_bytes(os.urandom(6))",
            body: "if method == 'page': answer({'photos': [photo(number)]}); continue",
            section: "TESTING", text: "other IDs"),
        Fault(
            name: "a process that does not end", ending: "while True: time.sleep(60)",
            section: "LIMITS", text: "killed"),
    ]

    @Test(arguments: faults)
    func `a fault is found, with the section that has the rule`(fault: Fault) async throws {
        let folder = try PluginFolder()
        try folder.write(opening: fault.opening, body: fault.body, ending: fault.ending)
        let (exit, report) = try await folder.test("odd", ["--username", "ada"])
        #expect(exit == .code(fault.isWarning ? 0 : 1))
        let found = report.checks(fault.isWarning ? "warning" : "failed")
        #expect(
            found.contains { check in
                check.section == fault.section
                    && check.findings.contains { $0.contains(fault.text) }
            }, "\(found)")
        #expect(try Set(report.checks.map(\.section)).isSubset(of: PluginFolder.headings()))
    }

    @Test func `all problems of a manifest are found, with their lines`() async throws {
        let folder = try PluginFolder()
        try folder.write(keys: "Sourses=all;\nLastingPlaces=maybe")
        let (exit, report) = try await folder.test("odd", [])
        #expect(exit == .code(1))
        let check = try #require(report.checks("failed").first)
        #expect(report.checks.count == 1)
        #expect(check.section == "THE MANIFEST")
        #expect(check.findings.count == 2)
        #expect(check.findings[0].hasPrefix("Line 9: Sourses"))
        #expect(check.findings[1].hasPrefix("Line 10: LastingPlaces"))
    }

    @Test func `a manifest in the current folder is found by its name alone`() async throws {
        let folder = try PluginFolder()
        try folder.write()
        let plugins = folder.directory.appending("plugins")
        let command = "provider test --set AllowLoopback=true --username ada odd.provider"
        let result = try await ChildProcess(
            "/bin/sh", ["-c", "cd '\(plugins)' && exec '\(Control.path)' \(command)"],
            environment: folder.directory.environment
        ).result()
        #expect(result.exit == .code(0), "\(result.output)")
    }

    @Test func `a call that takes too long is found`() async throws {
        let folder = try PluginFolder()
        try folder.write(body: "if method == 'page': time.sleep(60)")
        let result = try await ChildProcess(
            BuiltProducts.path("imagefeed-provider-test"),
            [
                "--time-limit", "1", "--username", "ada", "--setting", "AllowLoopback=true",
                folder.manifest("odd"),
            ], environment: folder.directory.environment
        ).result()
        #expect(result.exit == .code(1))
        let line = result.output.split(separator: "\n").first { $0.contains("page, source home") }
        #expect(line?.contains(#""section":"LIMITS""#) == true)
        #expect(line?.contains(#""result":"failed""#) == true)
        try await folder.waitForEnd()
    }

    @Test func `a test ends with its reader`() async throws {
        let folder = try PluginFolder()
        try folder.write(body: "if method == 'page': time.sleep(60)")
        let control = try ChildProcess(
            Control.path,
            [
                "provider", "test", "--set", "AllowLoopback=true", "--username", "ada",
                folder.manifest("odd"),
            ],
            environment: folder.directory.environment)
        try await control.standardOutput.wait { $0.text.contains("sources") ? true : nil }
        #expect(try folder.processes().count > 1)
        control.kill(9)
        _ = try await control.exitStatus()
        try await folder.waitForEnd()
    }

    @Test(arguments: [
        ["provider", "test"], ["provider", "test", "--set", "x", "a"], ["provider", "try"],
    ])
    func `wrong arguments are a usage error`(arguments: [String]) async throws {
        let result = try await ChildProcess(
            Control.path, arguments, environment: TemporaryDirectory().environment
        ).result()
        #expect(result.exit == .code(64))
    }
}

/// `imagefeedctl provider test` in a terminal.
@Suite(.privateBus, .timeLimit(.minutes(1))) @MainActor
struct ProviderTestScreenTests {
    @Test func `a report fits on 80 columns`() async throws {
        let folder = try PluginFolder()
        try folder.write(
            opening: "print('a long line on standard error ' * 5, file=sys.stderr, flush=True)",
            body: "if method == 'photo': refuse('failed'); continue")
        let (exit, screen) = try await Terminal(
            "\"$CTL\" provider test --set AllowLoopback=true --username ada \(folder.manifest("odd"))"
        ).result()
        #expect(exit == .code(1))
        let plain = screen.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        for line in plain.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(plain.contains("Odd photos (odd)"))
        #expect(plain.contains("failed   Unknown photo"))
        #expect(plain.contains("imagefeed-providers(7)"))
    }
}
