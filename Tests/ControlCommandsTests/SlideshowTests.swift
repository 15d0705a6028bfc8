import DBus
import Foundation
import TestSupport
import Testing

/// Tests of the commands of the slideshow with a fake daemon.
@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct SlideshowTests {
    @Test(arguments: [
        ("next", "Next"), ("previous", "Previous"), ("pause", "Paused true"),
        ("resume", "Paused false"), ("show 7", "Show local_ada/7"),
        ("show -Xy", "Show local_ada/-Xy"), ("show local/7", "Show local_ada/7"),
        ("show current", "Show local_ada/5"), ("unhide current", "Unhide local_ada/5"),
        ("hide current", "Hide local_ada/5"), ("hide 7", "Hide local_ada/7"),
        ("unhide local_ada/7", "Unhide local_ada/7"), ("unhide gone_bob/7", "Unhide gone_bob/7"),
        ("set --interval 30m", "Interval 1800"), ("set --interval 0", "Interval 0"),
        ("set --shuffle", "Shuffle true"), ("set --no-shuffle", "Shuffle false"),
        ("set --size full", "ImageSize full"),
        ("set --source combined", "Source /org/imagefeed/ImageFeed1/combined "),
        ("set --source combined:likes", "Source /org/imagefeed/ImageFeed1/combined likes"),
        ("set --source local", "Source /org/imagefeed/ImageFeed1/accounts/local_ada "),
        (
            "set --source local_ada:album:a:b",
            "Source /org/imagefeed/ImageFeed1/accounts/local_ada album:a:b"
        ),
    ])
    func `a command calls the daemon once`(command: String, call: String) async throws {
        service.slideshow.hidden = ["gone_bob/7"]
        service.slideshow.show(5)
        try await Control.expectSuccess(["slideshow"] + command.words)
        #expect(service.slideshow.calls.value == [call])
    }

    @Test func `next and show print the new photo`() async throws {
        service.slideshow.show(5)
        #expect(try await Control.run(["slideshow", "next"]).output == "local_ada/6\tt6\n")
        let shown = try await Control.run(["slideshow", "show", "9", "--json"])
        #expect(shown.output.hasPrefix(#"{"id":"local_ada/9","account":"/org/imagefeed"#))
        #expect(shown.output.hasSuffix(#""path":"/images/shown.png"}"# + "\n"))
    }

    @Test(arguments: [("next", "Next"), ("previous", "Previous"), ("watch", "Attach")])
    func `a call without limit follows a limited one`(command: String, call: String) async throws {
        let calls = service.slideshow.calls
        service.tree.onRead = { calls.append("Read") }
        let process = try Control.start(["slideshow", command])
        #expect(try await calls.elements(2).prefix(2) == ["Read", call])
        process.terminate()
    }

    @Test func `previous without history fails`() async throws {
        try await Control.expectFailure(
            ["slideshow", "previous"], status: 1, "No photo was shown before.")
    }

    @Test func `the state names the photo and the settings`() async throws {
        let empty = try await Control.expectSuccess(["slideshow"])
        #expect(empty.error.contains("imagefeedctl slideshow next"))
        service.slideshow.show(5)
        service.slideshow.hidden = ["local_ada/1", "local_ada/2"]
        let result = try await Control.run(["slideshow"])
        #expect(
            result.output == """
                Photo\tlocal_ada/5
                Title\tt5
                Image\t/images/5.png
                Paused\tno
                Interval\t30m
                Shuffle\tno
                Source\tcombined
                ImageSize\tregular
                Hidden\tlocal_ada/1 local_ada/2

                """)
        #expect(result.error == "")
        let json = try await Control.run(["slideshow", "--json"])
        #expect(json.output.hasPrefix(#"{"Photo":{"#))
        let values = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(values["Interval"] as? Int == 1800)
        #expect(values["Hidden"] as? [String] == ["local_ada/1", "local_ada/2"])
    }

    @Test func `a logged-out account cannot be the source`() async throws {
        try await Control.expectFailure(
            ["slideshow", "set", "--source", "unsplash_bob"], status: 77)
        #expect(service.slideshow.calls.value == [])
    }

    @Test(arguments: ["show", "hide"])
    func `a photo of a logged-out account is refused with its login`(command: String) async throws {
        try await Control.expectFailure(
            ["slideshow", command, "unsplash_bob/7"], status: 77,
            "Log in with “imagefeedctl login unsplash --account unsplash_bob”.")
        #expect(service.slideshow.calls.value == [])
    }

    // MARK: The current photo

    @Test(arguments: ["like", "unlike", "toggle"])
    func `a command without a photo uses the current one`(command: String) async throws {
        service.slideshow.show(5)
        try await Control.expectSuccess([command, "current"])
        #expect(service.account.calls.value == ["\(command.capitalized) 5"])
        try await Terminal("\"$CTL\" \(command)").screen()
        #expect(service.account.calls.value.count == 2)
    }

    @Test(arguments: [["like"], ["unlike"], ["toggle"], ["slideshow", "hide"]])
    func `a script changes the current photo only with “current”`(command: [String]) async throws {
        service.slideshow.show(5)
        try await Control.expectFailure(command, status: 64, "pass “current”")
        try await Control.expectFailure(command + [""], status: 64, "The photo argument has no ID")
        // A script in a terminal has its own process group, in which the command is not the first process.
        let line = command.joined(separator: " ")
        let screen = try await Terminal("\"$CTL\" \(line); echo $?", isShell: true)
            .screen(status: nil)
        #expect(screen.hasSuffix("64\n"))
        // A photo can have this ID.
        try await Control.expectSuccess(["toggle", "local_ada/current"])
        #expect(service.account.calls.value == ["Toggle current"])
        #expect(service.slideshow.calls.value == [])
    }

    @Test func `photo, image, share and download use the current photo by default`() async throws {
        service.slideshow.show(5)
        #expect(try await Control.run(["photo", "--json"]).output.hasPrefix(#"{"id":"5","#))
        #expect(try await Control.run(["image"]).output == "/tmp/image file.jpg\n")
        #expect(try await Control.run(["share"]).output.hasPrefix("https://photos.example/"))
        let folder = try PrivateBus.current.directory.path
        let download = try await Control.run(["download", "-o", folder])
        #expect(download.output == "\(folder)/5.jpg\n")
    }

    @Test(arguments: [
        "photo", "like current", "unlike current", "toggle current", "open", "share", "download",
        "image", "photo current", "slideshow hide current",
    ])
    func `a command without any photo is a usage error`(line: String) async throws {
        try await Control.expectFailure(line.words, status: 64, "The slideshow shows no photo.")
        #expect((service.account.calls.value, service.slideshow.calls.value) == ([], []))
    }

    // MARK: The combined account

    @Test func `the combined account has its own pages, likes and sources`() async throws {
        service.combined.sourceID = "everything"
        let feed = try await Control.run(["feed", "--combined", "--count", "120"])
        let lines = feed.output.split(separator: "\n")
        #expect(lines.count == 120)
        #expect(lines.first?.hasPrefix("local_ada/0\t") == true)
        #expect(lines.last?.hasPrefix("local_ada/119\t") == true)
        let likes = try await Control.run(["likes", "--combined"])
        #expect(likes.output.hasPrefix("local_ada/42\t"))
        let sources = try await Control.run(["sources", "--combined"])
        #expect(sources.output.contains("\teverything\tfeed\t250\tAll\n"))
        try await Control.expectFailure(
            ["feed", "--combined", "--source", "NotFound"], status: 1,
            "“imagefeedctl sources --combined” lists the sources")
    }

    @Test func `the combined account requires a login`() async throws {
        service.removeCombined()
        try await Control.expectFailure(
            ["feed", "--combined"], status: 77, "imagefeedctl login PROVIDER")
    }
}
