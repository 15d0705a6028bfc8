import Contract
import DBus
import Foundation
import TestSupport
import Testing

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct CommandTests {
    @Test(
        arguments: Control.commands.filter {
            // These open a window, write a file, or do not end.
            !["open", "download"].contains($0[0]) && $0 != ["slideshow", "watch"]
        })
    func `every command prints one JSON document with --json`(arguments: [String]) async throws {
        service.slideshow.show(5)
        let result = try await Control.expectSuccess(arguments + ["--json"])
        _ = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        #expect(result.output.hasSuffix("\n"))
    }

    @Test func `--format prints a line for each photo`() async throws {
        service.account.page = [
            Samples.photo("a", title: "x\ty"), Samples.photo("b"), Samples.photo("c", title: "&<"),
        ]
        let format = #"{account}/{id}\t{title|markup}\n{nothing here}"#
        let result = try await Control.expectSuccess(["feed", "--format", format])
        #expect(
            result.output == """
                local_ada/a\tx y
                {nothing here}
                local_ada/b\t
                {nothing here}
                local_ada/c\t&amp;&lt;
                {nothing here}

                """)
        let photo = try await Control.expectSuccess(["photo", "--format", "{width}", "a"])
        #expect(photo.output == "6000\n")
    }

    @Test func `a list in a pipe contains only fields`() async throws {
        let result = try await Control.run(["accounts"])
        #expect(
            result.output == """
                *\tlocal_ada\tAda[2J\tPictures\tready\tAda Lovelace\t
                \tunsplash_bob\tAda[2J\tUnsplash\tready\t\t

                """)
        #expect(result.error == "")
    }

    @Test(arguments: [
        ([], 30), (["--count", "3"], 3), (["--count", "150"], 150), (["--all"], 250),
        (["--cursor", "240"], 10), (["--source", "empty"], 0),
    ])
    func `feed lists the requested number of photos`(options: [String], count: Int) async throws {
        let result = try await Control.expectSuccess(["feed"] + options)
        #expect(result.output.split(separator: "\n").count == count)
        #expect(!result.output.contains("\u{1B}"))
        let json = try await Control.run(["feed", "--json"] + options)
        let page = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((page["photos"] as? [Any])?.count == count)
    }

    @Test func `default accepts a prefix of an account ID`() async throws {
        try await Control.expectSuccess(["default", "uns"])
        #expect(service.manager.defaultAccount == ServiceName.accounts.appending("unsplash_bob"))
    }

    @Test func `image prints the unchanged path to a pipe`() async throws {
        let result = try await Control.run(["image", "7", "--size", "thumb"])
        #expect(result.output == "/tmp/image file.jpg\n")
        #expect(service.account.calls.value == ["GetImage thumb"])
    }

    @Test func `open starts the program of the desktop`() async throws {
        let folder = try PrivateBus.current.directory
        try await Control.install(
            "xdg-open", "echo noise\nprintf %s \"$1\" > \(folder.path)/opened")
        let result = try await Control.expectSuccess(["open", "7"], path: folder.appending("bin"))
        #expect(result.output == "")
        #expect(try Control.content("opened") == "/tmp/image file.jpg")
        #expect(service.account.calls.value == ["GetImage full"])
    }

    @Test func `open without a viewer names the file in the error`() async throws {
        try await Control.expectFailure(
            ["open", "7"], path: "/nonexistent", status: 1, "/tmp/image file.jpg")
    }

    @Test func `the output of a failing viewer is not part of the error`() async throws {
        try await Control.install("xdg-open", "echo one; echo two >&2; exit 3")
        try await Control.expectFailure(
            ["open", "7"], path: try PrivateBus.current.directory.appending("bin"), status: 1,
            "xdg-open exited with status 3")
    }

    @Test func `open --viewer passes the photo to the window`() async throws {
        let window = try await FakeViewer(try PrivateBus.current.connect())
        let result = try await Control.expectSuccess(["open", "--viewer", "7", "--json"])
        #expect(result.output == "{\"photo\":\"local_ada/7\"}\n")
        #expect(window.calls.value == ["open local_ada/7"])
        #expect(service.account.calls.value.allSatisfy { !$0.hasPrefix("GetImage") })
    }

    @Test func `open --viewer without the window names its package`() async throws {
        try await Control.expectFailure(["open", "--viewer", "7"], status: 69, "imagefeed-viewer")
    }

    @Test func `open --viewer of an unknown photo does not start the window`() async throws {
        let window = try await FakeViewer(try PrivateBus.current.connect())
        try await Control.run(["open", "--viewer", "NotFound"], status: 1)
        #expect(window.calls.value == [])
    }

    @Test(arguments: ["logout", "remove"])
    func `logout and remove change nothing without a confirmation`(command: String) async throws {
        try await Control.expectFailure([command, "local_ada"], input: "y\n", status: 64, "--yes")
        #expect(service.account.calls.value == [])
        #expect(try await Control.run([command, "local_ada", "--yes"]).exit == .code(0))
        #expect(service.account.calls.value == [command.capitalized])
    }

    @Test func `a closed pipe ends the program without a message`() async throws {
        let line = "{ \"$CTL\" feed --all; echo $? >&2; } | head -n 1"
        let result = try await Control.shell(line)
        #expect(result.output.split(separator: "\n").count == 1)
        #expect(result.error == "0\n")
    }

    @Test(arguments: [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left")])
    func `a closed or full output is an error`(output: String, message: String) async throws {
        let result = try await Control.shell("exec \"$CTL\" accounts \(output)", status: 1)
        #expect(result.error.contains(message))
    }
}
