import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// `imagefeedctl provider trace`, with a daemon and a plugin whose service repeats the key of each request.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct TraceTests {
    private static let key = "KEY-5f2c81d0"
    private let server: LoopbackServer
    private let client: TestClient

    init() throws {
        server = try LoopbackServer { request in
            let fields = request.headers.map { "\"\($0.name)\":\"\($0.value)\"" }
            return LoopbackResponse(
                headers: [("Set-Cookie", "id=COOKIE-1")],
                json: """
                    {"seen": {\(fields.joined(separator: ","))}, "access_token": "TOKEN-1",
                     "text": "\(request.headers.map(\.value).joined(separator: " "))"}
                    """)
        }
        client = try TestClient()
        let directory = try PrivateBus.current.directory
        try directory.write(
            """
            [Provider echo]
            AllowLoopback=true
            Flavour=FLAVOUR-1
            Shown=SHOWN-1

            """, to: "home/.config/imagefeed/imagefeed.conf")
        let folder = "home/.local/share/imagefeed/providers"
        try directory.write(
            """
            [Provider]
            Id=echo
            Name=Echo
            Exec=/usr/bin/python3 ./echo/echo.py
            Capabilities=feed;
            DefaultSource=home
            Sources=home;
            SecretSettings=Flavour;

            [Authentication]
            Type=key
            Header=X-Custom
            TokenHosts=\(server.origin);

            """, to: "\(folder)/echo.provider")
        try directory.write(
            """
            import json, sys
            def write(message):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
                sys.stdout.flush()
            print("standard error speaks", file=sys.stderr, flush=True)
            for line in sys.stdin:
                request = json.loads(line)
                method, params = request["method"], request.get("params", {})
                if method == "initialize": result = {"protocol": 1}
                else:
                    write({"id": "x", "method": "http", "params": {"account":
                        params["account"]["id"], "url": "\(server.origin)/?api_key=QUERY-1&page=1",
                        "headers": [["Authorization", "Basic OWNKEY-1"]]}})
                    body = json.loads(sys.stdin.readline())["result"]["body"]
                    result = {"username": "ada"}
                    if method == "sources": result = {"sources": []}
                    if method == "page": result = {"photos": [{"id": "1", "title": body[:300]}]}
                if "id" in request: write({"id": request["id"], "result": result})

            """, to: "\(folder)/echo/echo.py")
    }

    private func logIn() async throws -> AccountClient {
        try await client.logIn(to: "echo", [.password: .secret(Self.key)])
    }

    private func trace(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("imagefeedctl"), ["provider", "trace", "echo"] + arguments,
            environment: try PrivateBus.current.environment)
    }

    /// The number of pipes that the daemon has open.
    private func pipes(_ daemon: RunningDaemon) throws -> Int {
        try daemon.descriptors().count { $0.hasPrefix("pipe:") }
    }

    @Test func `a trace shows the messages without secrets, and ends with its reader`() async throws
    {
        let daemon = try await RunningDaemon()
        let before = try pipes(daemon)
        let trace = try trace(["--json"])
        try await poll { try pipes(daemon) != before }
        let account = try await logIn()
        _ = try await account.page("", cursor: "", count: 10)
        let text = try await trace.standardOutput.wait { output in
            // The standard error is read independently of the messages.
            ["\"photos\"", "standard error speaks"].allSatisfy { output.text.contains($0) }
                ? output.text : nil
        }
        let events = try text.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let names = events.compactMap { $0["event"] as? String }
        #expect(names.first == "started")
        for name in ["sent", "received", "stderr"] { #expect(names.contains(name)) }
        let methods = events.compactMap { ($0["message"] as? [String: Any])?["method"] as? String }
        for method in ["initialize", "identify", "http", "page"] {
            #expect(methods.contains(method))
        }
        for secret in [
            Self.key, "COOKIE-1", "TOKEN-1", "FLAVOUR-1", "QUERY-1", "OWNKEY-1",
        ] {
            #expect(!text.contains(secret), "\(secret)")
        }
        for known in ["SHOWN-1", "page=1", "standard error speaks", "(secret)"] {
            #expect(text.contains(known), "\(known)")
        }
        let during = try pipes(daemon)
        trace.kill(SIGINT)
        #expect(try await trace.exitStatus() == .code(0))
        // The daemon closes both of its descriptors.
        try await poll { try pipes(daemon) <= during - 2 }
        _ = try await account.refresh("")
    }

    @Test func `a trace shows one line per event, and ends with the daemon`() async throws {
        let daemon = try await RunningDaemon()
        let before = try pipes(daemon)
        let trace = try trace([])
        try await poll { try pipes(daemon) != before }
        _ = try await logIn()
        let text = try await trace.standardOutput.wait { output in
            ["← result #2", "standard error speaks\n"].allSatisfy { output.text.contains($0) }
                ? output.text : nil
        }
        #expect(text.contains(/\d\d:\d\d:\d\d\.\d{3} → identify #2 \{/))
        #expect(text.contains(/\d\d:\d\d:\d\d\.\d{3} ← http #x \{/))
        #expect(text.contains(/\d\d:\d\d:\d\d\.\d{3} stderr: standard error speaks\n/))
        try await daemon.stop()
        let result = try await trace.result()
        #expect(result.exit == .code(69))
        #expect(result.error.contains("The trace ended"))
    }

    @Test func `a reader that reads nothing does not stop the plugin`() async throws {
        _ = try await RunningDaemon()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let provider = client.provider("echo")
        try await provider.trace(to: writer)
        let account = try await logIn()
        for _ in 0..<100 { _ = try await account.refresh("") }
        withExtendedLifetime(reader) {}
    }

    @Test func `only a plugin can be traced, into a pipe, by a few at a time`() async throws {
        _ = try await RunningDaemon()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let local = client.provider("local")
        await expectError(.notSupported) { try await local.trace(to: writer) }
        let echo = client.provider("echo")
        await expectError(.invalidArgs) { try await echo.trace(to: reader) }
        for _ in 0..<4 { try await echo.trace(to: writer) }
        await expectError(.limitsExceeded) { try await echo.trace(to: writer) }
    }
}
