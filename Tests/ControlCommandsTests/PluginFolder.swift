import Foundation
import TestSupport
import Testing

/// A manifest and a program in a folder of the running test, for `imagefeedctl provider test`.
@MainActor final class PluginFolder {
    let directory: TemporaryDirectory
    let server: LoopbackServer

    /// The output of the command with `--json`.
    struct Report: Decodable {
        struct Check: Decodable {
            let name: String
            let section: String
            let result: String
            let findings: [String]
            let note: String?
        }

        let id: String
        let result: String
        let checks: [Check]
        /// The exit status; nil after a signal.
        var exit: Int32?

        /// The checks with one of the results.
        func checks(_ results: String...) -> [Check] {
            checks.filter { results.contains($0.result) }
        }
    }

    init(_ handler: LoopbackServer.Handler? = nil) throws {
        directory = try TemporaryDirectory()
        server = try LoopbackServer(
            handler ?? { request in
                switch request.target {
                case "/text": LoopbackResponse(json: "{}")
                case "/page":
                    LoopbackResponse(
                        headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
                case "/missing": LoopbackResponse(404, text: "")
                default: Self.image
                }
            })
    }

    /// The beginning of a JPEG file.
    nonisolated static var image: LoopbackResponse {
        LoopbackResponse(headers: [("Content-Type", "image/jpeg")], body: [0xff, 0xd8, 0xff, 0xe0])
    }

    /// The path of a manifest.
    func manifest(_ id: String) -> String { directory.appending("plugins/\(id).provider") }

    /// Writes a plugin in Python that keeps to the rules, except for the changes.
    ///
    /// - Parameters:
    ///   - opening: The first statements of the program.
    ///   - body: The statements before a call is answered, with `method`, `params` and `place`; `continue` ends them.
    ///   - ending: The statements after the end of standard input.
    ///   - keys: Further lines of the group Provider.
    ///   - capabilities: The capabilities.
    ///   - sources: The sources of the manifest.
    ///   - authentication: The lines of the group Authentication.
    /// - Throws: An error if the files cannot be written.
    func write(
        opening: String = "", body: String = "pass", ending: String = "", keys: String = "",
        capabilities: String = "feed;", sources: String = "home;",
        authentication: String = "Type=none"
    ) throws {
        try directory.write(
            """
            [Provider]
            Id=odd
            Name=Odd photos
            Exec=/usr/bin/python3 ./odd/odd.py
            Capabilities=\(capabilities)
            DefaultSource=home
            Sources=\(sources)
            Hosts=\(server.origin);
            \(keys)

            [Authentication]
            \(authentication)

            """, to: "plugins/odd.provider")
        let statements = body.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        try directory.write(
            """
            import json, os, socket, sys, time
            def write(message):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
                sys.stdout.flush()
            def answer(result): write({"id": request["id"], "result": result})
            def refuse(kind):
                write({"id": request["id"], "error":
                    {"code": -32000, "message": "No.", "data": {"kind": kind}}})
            def ask(params):
                write({"id": "x", "method": "http", "params":
                    {"account": request["params"]["account"]["id"], **params}})
                return json.loads(sys.stdin.readline())
            def link(file): return "\(server.origin)/" + file
            def photo(id, file="photo.jpg"):
                return {"id": str(id), "title": "Photo", "images": {"full": link(file)}}
            def source(id, kind="feed"): return {"id": id, "title": id, "kind": kind}
            \(opening)
            for line in sys.stdin:
                request = json.loads(line)
                method, params = request["method"], request.get("params", {})
                place = params.get("place") or "1"
            \(statements)
                if method == "initialize": answer({"protocol": 1})
                elif method == "identify": answer({"username": "ada"})
                elif method == "sources": answer({"sources": [source("home")]})
                elif method == "page" and place.isdigit():
                    number = int(place)
                    answer({"photos": [photo(number * 10 + index) for index in range(3)],
                        "next": str(number + 1) if number < 3 else None})
                elif method == "page": refuse("stale-cursor")
                elif method == "photo" and params["photo"].isdigit(): answer(photo(params["photo"]))
                elif method == "photo": refuse("not-found")
                elif "id" in request: refuse("not-supported")
            \(ending)

            """, to: "plugins/odd/odd.py")
    }

    /// A recorded answer of an example's service; an empty text if there is none.
    nonisolated static func answer(_ id: String, _ name: String) -> String {
        (try? Control.file("dist/examples/\(id)/answers/\(name).json")) ?? ""
    }

    /// The only favorite in the answers of PhotoPrism, which is the first photo.
    nonisolated static var favorite: String {
        let list = answer("photoprism", "photos").drop { $0 != "{" }
        return String(list[..<(list.range(of: "\n  },")?.lowerBound ?? list.endIndex)]) + "}"
    }

    /// Writes an example in Python.
    ///
    /// - Parameters:
    ///   - id: Its ID.
    ///   - script: Its program.
    /// - Throws: An error if the files cannot be written.
    func writeExample(_ id: String, script: String) throws {
        let manifest = try Control.file("dist/examples/\(id)/\(id).provider")
        try directory.write(
            manifest.replacing("Hosts=", with: "Hosts=\(server.origin);"),
            to: "plugins/\(id).provider")
        let name = script.split(separator: "/").last ?? ""
        try directory.write(
            Control.file("dist/examples/\(id)/\(script)"), to: "plugins/\(id)/\(name)")
    }

    /// Tests a plugin, without a bus, and waits until no process remains.
    ///
    /// - Parameters:
    ///   - id: The plugin.
    ///   - arguments: Further arguments of the command.
    ///   - input: The standard input of the command.
    ///   - status: The expected exit status; nil for any.
    ///   - location: The place of the test.
    /// - Returns: The report.
    /// - Throws: An error if the command cannot be started, or if its output is not a report.
    func test(
        _ id: String, _ arguments: [String], input: String = "", status: Int32?,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Report {
        let result = try await start(["--json"] + arguments, of: id, input: input).result()
        var report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(result.error == "", sourceLocation: location)
        if case .code(let code) = result.exit { report.exit = code }
        if let status { #expect(report.exit == status, sourceLocation: location) }
        try await waitForEnd()
        return report
    }

    /// Starts the test of a plugin, without a bus.
    func start(_ arguments: [String], of id: String, input: String = "") throws -> ChildProcess {
        let words = ["provider", "test", "--set", "AllowLoopback=true"]
        return try ChildProcess(
            Control.path, words + arguments + [manifest(id)], environment: directory.environment,
            input: input)
    }

    /// Waits until no process of the plugin is there. The kernel ends one in a sandbox a moment after the sandbox.
    func waitForEnd() async throws {
        while try !processes().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// The processes whose command line contains the folder.
    func processes() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil,
                let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return false }
            return String(decoding: line, as: UTF8.self).contains(directory.path)
        }
    }

    /// The headings of imagefeed-providers(7).
    static func headings() throws -> Set<String> {
        let page = try Control.file("man/imagefeed-providers.7")
        return Set(
            page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") || $0.hasPrefix(".Ss ") }
                .map { String($0.dropFirst(4)) })
    }
}
