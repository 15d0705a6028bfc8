import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests of `slideshow watch` with a fake daemon.
@MainActor @Suite(.privateBus, .timeLimit(.minutes(10))) struct SlideshowWatchTests {
    private var slideshow: FakeSlideshow { service.slideshow }

    /// Ends the program with Ctrl-C, and expects success.
    private func interrupt(_ process: ChildProcess) async throws {
        process.kill(SIGINT)
        let result = try await process.result(status: 0)
        #expect(result.error == "")
    }

    @Test(.fakeService) func `watch prints the path of each image while attached`() async throws {
        slideshow.show(1)
        let watch = try Control.start(["slideshow", "watch"])
        #expect(try await watch.lines(1) == ["/images/1.png"])
        #expect(slideshow.calls.value == ["Attach"])
        slideshow.show(2)
        #expect(try await watch.lines(2).last == "/images/2.png")
        // A like changes the photo, but not the image.
        var photo = slideshow.photo
        photo["liked"] = .bool(true)
        slideshow.show(photo, image: slideshow.image)
        slideshow.object.flushChanges()
        slideshow.show([:], image: "")
        slideshow.object.flushChanges()
        slideshow.show(3)
        #expect(try await watch.lines(3).last == "/images/3.png")
        try await interrupt(watch)
        // The program waits for the end of the call for a limited time.
        #expect(try await slideshow.calls.elements(2) == ["Attach", "Detach"])
        #expect(watch.standardOutput.value.text.filter { $0 == "\n" }.count == 3)
    }

    @Test(.fakeService) func `watch --json prints each value of the photo`() async throws {
        let watch = try Control.start(["slideshow", "watch", "--json"])
        #expect(try await watch.lines(1) == ["{}"])
        slideshow.show(1)
        let line = try #require(try await watch.lines(2).last)
        #expect(line.hasPrefix(#"{"id":"local_ada/1","account":"/org/imagefeed/ImageFeed1/"#))
        #expect(line.hasSuffix(#""path":"/images/1.png"}"#))
        var photo = slideshow.photo
        photo["liked"] = .bool(true)
        slideshow.show(photo, image: slideshow.image)
        let liked = try #require(try await watch.lines(3).last)
        #expect(liked.contains(#""liked":true"#))
        slideshow.show([:], image: "")
        #expect(try await watch.lines(4).last == "{}")
        try await interrupt(watch)
    }

    @Test(.fakeService) func `watch --format prints a line whenever it changes`() async throws {
        slideshow.show(0)
        let watch = try Control.start([
            "slideshow", "watch", "--format", #"{title|markup}\t{liked}{"a"}\{path}{author}"#,
        ])
        #expect(try await watch.lines(1) == [#"t0"# + "\tno" + #"{"a"}\/images/0.png"#])
        var photo = Samples.photo("local_ada/1", title: "a <b>\n& 'c'")
        slideshow.show(photo, image: "/images/1.png")
        let first = #"a &lt;b&gt; &amp; &#39;c&#39;"# + "\t"
        let rest = #"{"a"}\/images/1.png"#
        #expect(try await watch.lines(2).last == "\(first)no\(rest)")
        photo["likes"] = .uint32(7)
        slideshow.show(photo, image: "/images/1.png")
        slideshow.object.flushChanges()
        photo["liked"] = .bool(true)
        slideshow.show(photo, image: "/images/1.png")
        #expect(try await watch.lines(3).last == "\(first)yes\(rest)")
        slideshow.show([:], image: "")
        try await watch.standardOutput.wait { $0.text.hasSuffix("\n\n") ? true : nil }
        try await interrupt(watch)
    }

    @Test(.fakeService, arguments: [[], ["--exec", "/bin/echo"]])
    func `watch prints a message once, and waits for a photo`(options: [String]) async throws {
        let watch = try Control.start(["slideshow", "watch"] + options)
        try await watch.standardError.wait { $0.text.hasSuffix("\n") ? true : nil }
        slideshow.show(1)
        #expect(try await watch.lines(1) == ["/images/1.png"])
        slideshow.show([:], image: "")
        slideshow.object.flushChanges()
        slideshow.show(2)
        #expect(try await watch.lines(2).last == "/images/2.png")
        watch.kill(SIGINT)
        let result = try await watch.result(status: 0)
        #expect(result.error.hasPrefix("The slideshow shows no photo. "))
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(result.error.contains("“imagefeedctl slideshow next”"))
    }

    @Test func `watch attaches again after a restart of the daemon`() async throws {
        let watch = try await withAttachedWatch()
        // A photo that is shown later could follow the attachment of a fast program.
        try await FakeService.run(showing: 2) { service in
            try await service.slideshow.attached.wait { $0 == 1 ? true : nil }
            #expect(try await watch.lines(2) == ["/images/1.png", "/images/2.png"])
            try await interrupt(watch)
            #expect(try await service.slideshow.calls.elements(2) == ["Attach", "Detach"])
        }
    }

    @Test(.fakeService) func `watch attaches again to a removed slideshow`() async throws {
        slideshow.show(1)
        let watch = try Control.start(["slideshow", "watch"])
        #expect(try await watch.lines(1) == ["/images/1.png"])
        service.tree.remove(slideshow.object)
        slideshow.show(2)
        service.tree.export(slideshow.object)
        #expect(try await watch.lines(2) == ["/images/1.png", "/images/2.png"])
        try await interrupt(watch)
        #expect(try await slideshow.calls.elements(3) == ["Attach", "Attach", "Detach"])
    }

    @Test func `watch detaches before the reply to its request to attach`() async throws {
        let watch = try await withAttachedWatch()
        try await FakeService.run { service in
            let slideshow = service.slideshow
            slideshow.isAttachSuspended.update { $0 = true }
            try await slideshow.attached.wait { $0 == 1 ? true : nil }
            slideshow.show(2)
            #expect(try await watch.lines(2) == ["/images/1.png", "/images/2.png"])
            try await interrupt(watch)
            #expect(try await slideshow.calls.elements(2) == ["Attach", "Detach"])
        }
    }

    /// Starts the command, and returns when the daemon has ended.
    private func withAttachedWatch() async throws -> ChildProcess {
        var watch: ChildProcess?
        try await FakeService.run { service in
            service.slideshow.show(1)
            let started = try Control.start(["slideshow", "watch"])
            #expect(try await started.lines(1) == ["/images/1.png"])
            watch = started
        }
        return try #require(watch)
    }

    @Test func `watch does not start the daemon again`() async throws {
        let bus = try PrivateBus.current
        let watch = try await withAttachedWatch()
        let mark = bus.directory.appending("started")
        try bus.addService(ServiceName.bus, command: "/usr/bin/touch \(mark)")
        try await interrupt(watch)
        #expect(access(mark, F_OK) != 0)
    }

    @Test(.fakeService) func `watch ends with the reader of its output`() async throws {
        slideshow.show(1)
        let result = try await Control.shell(
            "{ \"$CTL\" slideshow watch; echo $? >&2; } | head -n 1")
        #expect((result.output, result.error) == ("/images/1.png\n", "0\n"))
    }

    @Test func `watch ends with the bus`() async throws {
        let service = try await FakeService(try PrivateBus.current.connect())
        service.slideshow.show(1)
        let watch = try Control.start(["slideshow", "watch"])
        _ = try await watch.lines(1)
        try await PrivateBus.current.stop()
        #expect(try await watch.exitStatus() == .code(69))
        withExtendedLifetime(service) {}
    }

    // MARK: --exec

    /// Text with shell syntax. `@` stands for a command that leaves a trace.
    nonisolated static let texts = [
        "$(@)", "`@`", "'; @; '", "\"; @; \"", "x;@ #", "a  b", "*", "-rf", "é|@", "", "a\nb",
    ]

    @Test(.fakeService, arguments: texts)
    func `a command receives any path and text unchanged`(text: String) async throws {
        let directory = try PrivateBus.current.directory
        let trace = directory.appending("trace")
        let text = text.replacing("@", with: "touch \(trace)")
        try await Control.install(
            "handle",
            #"""
            printf '%s\0' "$#" "$@" "$PHOTO_ID" "$PHOTO_TITLE" "$PHOTO_AUTHOR" "$PHOTO_URL"
            echo
            """#)
        var photo = Samples.photo("local_ada/\(text)", title: text)
        photo["author"] = .string(text)
        slideshow.show(photo, image: "/images/\(text)")
        let handle = directory.appending("bin/handle")
        let watch = try Control.start(
            ["slideshow", "watch", "--exec", "\(handle) -a 'b c'"],
            ["PHOTO_URL": "inherited"])
        let output = try await watch.output { $0.hasSuffix("\0\n") }
        #expect(
            output.dropLast().split(separator: "\0", omittingEmptySubsequences: false) == [
                "3", "-a", "b c", "/images/\(text)", "local_ada/\(text)", "\(text)", "\(text)",
                "", "",
            ])
        try await interrupt(watch)
        #expect(access(trace, F_OK) != 0, "a part of the text was executed")
    }

    /// Installs a command that prints the photo's ID and runs until it receives SIGTERM.
    private func installDisplay() async throws -> String {
        try await Control.install("display", "echo \"$PHOTO_ID $$\"\nexec tail -f /dev/null")
        return try PrivateBus.current.directory.appending("bin/display")
    }

    @Test(.fakeService) func `the newest photo replaces a command that still runs`() async throws {
        slideshow.show(1)
        let watch = try Control.start(["slideshow", "watch", "--exec", try await installDisplay()])
        let first = try await watch.lines(1)
        #expect(first[0].hasPrefix("local_ada/1 "))
        for number in 2...5 {
            slideshow.show(number)
            slideshow.object.flushChanges()
        }
        let all = try await watch.output { $0.contains("local_ada/5 ") }.split(separator: "\n")
        // Photos in between may be skipped; each earlier process has exited.
        #expect(all.count <= 5)
        let processes = try all.map { line in
            try #require(line.split(separator: " ").last.flatMap { pid_t($0) })
        }
        for process in processes.dropLast() { #expect(kill(process, 0) != 0) }
        try await interrupt(watch)
        #expect(processes.allSatisfy { kill($0, 0) != 0 })
    }

    @Test(.fakeService) func `a failing command is reported, and then runs again`() async throws {
        try await Control.install("fail", "echo \"$1\"\nexit 3")
        let command = try PrivateBus.current.directory.appending("bin/fail")
        slideshow.show(1)
        let watch = try Control.start(["slideshow", "watch", "--exec", command])
        #expect(try await watch.lines(1) == ["/images/1.png"])
        try await watch.standardError.wait { $0.text.hasSuffix("\n") ? true : nil }
        #expect(watch.standardError.value.text == "\(command) exited with status 3.\n")
        slideshow.show(2)
        #expect(try await watch.lines(2).last == "/images/2.png")
        watch.terminate()
        #expect(try await watch.exitStatus() == .code(0))
    }

    @Test(.fakeService) func `a command that cannot be started ends watch`() async throws {
        slideshow.show(1)
        try await Control.expectFailure(
            ["slideshow", "watch", "--exec", "/nonexistent/program -a"], status: 1,
            "/nonexistent/program cannot be started")
    }
}
