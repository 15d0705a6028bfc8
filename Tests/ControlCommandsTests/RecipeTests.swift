import DBus
import Foundation
import TestSupport
import Testing

@testable import ControlCommands

/// Tests that no recipe lets a shell execute data of a service or a file name.
///
/// The recipes are the commands of the examples and of the manual page. They run in the shell that the widgets use.
@MainActor
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct RecipeTests {
    /// Text with shell syntax. `@` stands for a command that leaves a trace.
    nonisolated static let texts = [
        "$(@)", "`@`", "'; @; '", "\"; @; \"", "x;@ #", "a  b", "*", "-rf", "--json", "${HOME}",
        "<b>&amp;", "é|@",
    ]
    private static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: project.appending(path: path), encoding: .utf8)
    }

    /// Returns the group of the first match of an expression.
    private static func match(_ pattern: String, _ text: String) throws -> String {
        let match = try #require(try Regex<(Substring, Substring)>(pattern).firstMatch(in: text))
        return String(match.output.1)
    }

    /// Runs `body` with a fake service whose newest photo has `text` as its ID, its title and the name of its file.
    private func withPhoto(
        _ text: String, _ body: (FakeService, _ id: String, _ image: String) async throws -> Void
    ) async throws {
        let directory = try PrivateBus.current.directory
        let trace = directory.appending("trace")
        let text = text.replacing("@", with: "touch \(trace)")
        let folder = directory.appending("images")
        // A file name cannot contain a slash.
        let image = "\(folder)/\(text.replacing("/", with: "\u{2215}"))\n.jpg"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: image))
        try await Control.install("xdg-open", "printf '%s\\n' \"$1\"")
        try await Control.install("notify-send", "exit 0")
        try await FakeService.run { service in
            service.account.imagePath = image
            service.account.page = [Samples.photo(text, title: "\(text)\n")]
            try await body(service, text, image)
        }
        #expect(access(trace, F_OK) != 0, "a part of the text was executed")
    }

    /// Runs a command like a widget, with the examples in the path.
    private func run(_ line: String) async throws -> (output: String, error: String) {
        let process = try start(line)
        let (exit, output, error) = try await process.result()
        #expect(exit == .code(0), "\(error)")
        return (output, error)
    }

    private func start(_ line: String) throws -> ChildProcess {
        let directory = try PrivateBus.current.directory
        var environment = try PrivateBus.current.environment
        let programs = Control.path.replacing("/imagefeedctl", with: "")
        let examples = Self.project.appending(path: "dist/examples").path
        environment["PATH"] = "\(directory.appending("bin")):\(programs):\(examples):/usr/bin:/bin"
        environment["XDG_RUNTIME_DIR"] = directory.path
        environment["HOME"] = directory.path
        environment["LC_ALL"] = "C.UTF-8"
        return try ChildProcess(
            "/bin/sh", ["-c", "cd \"$HOME\"; \(line)"], environment: environment)
    }

    @Test(arguments: texts)
    func `eww shows and likes a photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let recipe = try Self.file("dist/examples/eww.yuck")
            #expect(!recipe.contains("${"))
            let command = try Self.match(
                #"defpoll photo [^"]*"60s"[^"]*"\{\}"\s*"([^"]+)""#, recipe)
            let json = try JSONSerialization.jsonObject(
                with: Data(try await run(command).output.utf8))
            let photo = try #require(json as? [String: Any])
            #expect(photo["title"] as? String == "\(id)\n")
            #expect(photo["path"] as? String == image)
            _ = try await run(try Self.match(#":onclick "([^"]+)""#, recipe))
            #expect(service.account.calls.value.last == "Toggle \(id)")
        }
    }

    @Test(arguments: texts)
    func `Waybar shows, opens and likes a photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let recipe = try Self.file("dist/examples/waybar-photo")
            let module = try start("waybar-photo")
            let line = try await module.firstLine()
            #expect(line.contains(#""class":"photo""#), "\(line)")
            module.terminate()
            let command = { (name: String) in
                let pattern = #""\#(name)": "((?:[^"\\]|\\.)*)""#
                let expression = try Regex<(Substring, Substring)>(pattern)
                let last = recipe.matches(of: expression).last
                return String(try #require(last).output.1).replacing("\\\"", with: "\"")
            }
            #expect(try await run(command("exec")).output == image + "\n")
            #expect(try await run(command("on-click")).error == image + "\n")
            _ = try await run(command("on-click-right"))
            #expect(service.account.calls.value.last == "Toggle \(id)")
        }
    }

    @Test(arguments: texts)
    func `conky links to a photo and prints its title`(text: String) async throws {
        try await withPhoto(text) { _, id, image in
            let recipe = try Self.file("dist/examples/conky.conf")
            let expression = try Regex<(Substring, Substring)>(#"\$\{execi 60 (.*)\}\\?\n"#)
            let commands = recipe.matches(of: expression).map { String($0.output.1) }
            try #require(commands.count == 2)
            _ = try await run(commands[0])
            let link = try PrivateBus.current.directory.appending("imagefeed-conky")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == image)
            #expect(try await run(commands[1]).output == "\(id) \n")
        }
    }

    @Test(arguments: texts)
    func `the commands of the manual page work with any photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let page = try Self.file("man/imagefeedctl.1")
                .replacing("\\(dq", with: "\"").replacing("\\e", with: "\\")
            _ = try await run(try Self.match(#"(?m)^\.Dl (imagefeedctl toggle .*)$"#, page))
            #expect(service.account.calls.value.last == "Toggle \(id)")
            let opened = try await run(try Self.match(#"(?m)^\.Dl (imagefeedctl open .*)$"#, page))
            #expect(opened.error == image + "\n")
            let saving = try Self.match(
                #"(?s)Save all photos that you like:\n\.Bd [^\n]*\n(.*?)\.Ed"#, page)
            _ = try await run(saving)
            let folder = try PrivateBus.current.directory.appending("Liked")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files == [FileName.photo(id, mediaType: "image/jpeg")])
        }
    }

    @Test func `no recipe inserts data into a shell command`() throws {
        for name in ["eww.yuck", "conky.conf", "waybar-photo", "like-photo", "eww-photo"] {
            let recipe = try Self.file("dist/examples/\(name)")
            #expect(!recipe.contains("xargs"), "\(name)")
            #expect(!recipe.contains("eval"), "\(name)")
            #expect(!recipe.contains("sh -c"), "\(name)")
        }
    }
}
