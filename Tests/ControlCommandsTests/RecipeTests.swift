import DBus
import Foundation
import TestSupport
import Testing

@testable import ControlCommands

/// Tests that no recipe lets a shell execute data of a service or a file name.
///
/// The recipes are the commands of the examples and of the manual page. They run in the shell that the widgets use.
@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct RecipeTests {
    /// Text with shell syntax. `@` stands for a command that leaves a trace.
    nonisolated static let texts = [
        "$(@)", "`@`", "'; @; '", "\"; @; \"", "x;@ #", "a  b", "*", "-rf", "--json", "${HOME}",
        "<b>&amp;", "é|@",
    ]

    /// Returns the groups of the matches of an expression.
    private static func matches(_ pattern: String, _ text: String) throws -> [String] {
        text.matches(of: try Regex<(Substring, Substring)>(pattern)).map { String($0.output.1) }
    }

    /// Returns the group of the first match of an expression.
    private static func match(_ pattern: String, _ text: String) throws -> String {
        try #require(try matches(pattern, text).first)
    }

    /// Returns the group of the first match of an expression in an example.
    private static func match(_ pattern: String, example: String) throws -> String {
        try match(pattern, try Control.file("dist/examples/\(example)"))
    }

    /// The calls of the slideshow, without those of `slideshow watch`.
    private var calls: [String] { service.slideshow.calls.value.filter { !$0.hasSuffix("tach") } }

    /// Runs `body` with a fake service whose newest and current photo has `text` as its ID, its title and the name of
    /// its file.
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
        try await Control.install("xdg-open", "printf '%s\\n' \"$1\" >\"$HOME/opened\"")
        try await Control.install("notify-send", "exit 0")
        service.account.imagePath = image
        service.account.page = [Samples.photo(text, title: "\(text)\n")]
        service.slideshow.show(Samples.photo("local_ada/\(text)", title: "\(text)\n"), image: image)
        try await body(service, text, image)
        #expect(access(trace, F_OK) != 0, "a part of the text was executed")
    }

    /// Runs a command like a widget, with the examples in the path.
    private func run(_ line: String) async throws -> Outputs {
        try await start(line).result(status: 0)
    }

    private func start(_ line: String) throws -> ChildProcess {
        let directory = try PrivateBus.current.directory
        var environment = try PrivateBus.current.environment
        let programs = Control.path.replacing("/imagefeedctl", with: "")
        let examples = Control.project.appending(path: "dist/examples").path
        environment["PATH"] = "\(directory.appending("bin")):\(programs):\(examples):/usr/bin:/bin"
        environment["XDG_RUNTIME_DIR"] = directory.path
        environment["HOME"] = directory.path
        environment["LC_ALL"] = "C.UTF-8"
        return try ChildProcess(
            "/bin/sh", ["-c", "cd \"$HOME\"; \(line)"], environment: environment)
    }

    /// Starts a command, expects its output up to an end, and terminates the command.
    private func expectOutput(
        _ expected: String, of line: String, ending end: String = "\0\n",
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let process = try start("exec \(line)")
        let output = try await process.output { $0.hasSuffix(end) }
        #expect(output == expected, sourceLocation: location)
        process.terminate()
    }

    @Test(arguments: texts)
    func `eww shows and likes a photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let recipe = try Control.file("dist/examples/eww.yuck")
            #expect(!recipe.contains("${"))
            let command = try Self.match(#"deflisten photo :initial "\{\}"\s*"([^"]+)""#, recipe)
            let widget = try start("exec \(command)")
            let json = try JSONSerialization.jsonObject(
                with: Data(try await widget.firstLine().utf8))
            let photo = try #require(json as? [String: Any])
            #expect(photo["title"] as? String == "\(id)\n")
            #expect(photo["path"] as? String == image)
            widget.terminate()
            let buttons = try Self.matches(#":onclick "([^"]+)""#, recipe)
            try #require(buttons.count == 3)
            _ = try await run(buttons[1])
            #expect(service.account.calls.value.last == "Toggle \(id)")
            for button in [buttons[2], buttons[0]] { _ = try await run(button) }
            #expect(calls == ["Next", "Previous"])
        }
    }

    @Test(arguments: texts)
    func `Waybar shows, opens and likes a photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let recipe = try Control.file("dist/examples/waybar.jsonc")
            let command = { (name: String) in try Self.match(#""\#(name)": "([^"]+)""#, recipe) }
            let module = try start("exec " + command("exec"))
            let markup = id.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;").replacing("'", with: "&#39;")
                .replacing("\"", with: "&quot;")
            #expect(try await module.firstLine() == markup + " ")
            _ = try await run(command("on-click"))
            #expect(try Control.content("opened") == image + "\n")
            _ = try await run(command("on-click-right"))
            #expect(service.account.calls.value.last == "Toggle \(id)")
            service.slideshow.show(5)
            _ = try await run(command("on-scroll-down"))
            let output = try await module.output { $0.hasSuffix("\nt6\n") }
            #expect(output.hasSuffix("\nt6\n"))
            module.terminate()
        }
    }

    @Test(arguments: texts + ["%{A1:@:}x%{A}"])
    func `Polybar receives no commands`(text: String) async throws {
        try await withPhoto(text) { _, id, _ in
            let module = try start(Self.match(#"(?m)^exec = (.*)$"#, example: "polybar.ini"))
            let line = try await module.firstLine()
            #expect(line == id.replacing("%{", with: "% {") + " ")
            module.terminate()
        }
    }

    @Test(arguments: texts)
    func `the panel of Xfce shows a photo`(text: String) async throws {
        try await withPhoto(text) { _, id, _ in
            let output = try await run("genmon-photo").output
            let title = id.count < 60 ? id + " " : id.prefix(60) + "…"
            let markup = title.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            #expect(output.hasSuffix("<txt>\(markup)</txt>\n"))
        }
    }

    @Test(arguments: texts)
    func `hyprpaper receives a path without commas`(text: String) async throws {
        try await withPhoto(text) { _, _, image in
            try await Control.install(
                "hyprctl",
                "printf '%s\\0' \"$@\"; link=${3#*,}; readlink -z \"${link%,cover}\"")
            let folder = try PrivateBus.current.directory.path
            for (words, output) in [("", ""), ("DP-1 ", "DP-1")] {
                let link = "\(folder)/imagefeed-hyprpaper-\(output)"
                try await expectOutput(
                    "hyprpaper\0wallpaper\0\(output),\(link),cover\0\(image)\0",
                    of: "imagefeedctl slideshow watch --exec 'hyprpaper-photo \(words)'",
                    ending: ".jpg\0")
            }
        }
    }

    @Test(arguments: texts)
    func `awww shows a photo on all outputs or on one`(text: String) async throws {
        try await withPhoto(text) { _, _, image in
            try await Control.install("awww", "printf '%s\\0' \"$@\"\necho")
            let recipe = try Control.file("dist/examples/hyprland.conf")
            let command = try Self.match(#"(?m)^# exec-once = (.* "awww img")$"#, recipe)
            let onOne = try Self.match("“(awww img [^”]+)”", recipe)
            for (line, options) in [
                (command, ""), (command.replacing("awww img", with: onOne), "--outputs\0DP-1\0"),
            ] { try await expectOutput("img\0\(options)\(image)\0\n", of: line) }
        }
    }

    @Test func `MQTT gets the photo of the slideshow that runs the recipe`() async throws {
        service.slideshow.show(5)
        try await Control.install(
            "mosquitto_pub", "case \"$*\" in *-s) cat >\"$HOME/published\" ;; esac")
        _ = try await run("PHOTO_ID=local_ada/7 mqtt-photo /image.jpg")
        #expect(try Control.content("published").hasPrefix(#"{"id":"7","#))
    }

    @Test(arguments: texts)
    func `conky shows a photo and its title`(text: String) async throws {
        try await withPhoto(text) { _, id, image in
            try await Control.install(
                "conky",
                """
                printf '%s\\0' "$(basename -- "$2")" "$PHOTO_TITLE" "$PHOTO_SIZE"
                readlink -z /proc/self/fd/3
                echo
                exec tail -f /dev/null
                """)
            try await expectOutput(
                "conky.conf\0\(id)\n\0300x200\0\(image)\0\n",
                of: Self.match(#"(imagefeedctl .*)"#, example: "conky-photo"))
        }
    }

    @Test(arguments: texts)
    func `sway shows a photo as the wallpaper`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            try await Control.install(
                "swaybg", "printf '%s\\0' \"$@\"\necho\nexec tail -f /dev/null")
            let recipe = try Control.file("dist/examples/sway.conf")
            try await expectOutput(
                "-m\0fill\0-i\0\(image)\0\n",
                of: Self.match(#"(?m)^exec (.* watch .*)$"#, recipe))
            let commands = try Self.matches(#"(?m)^bindsym \S+ exec (.*)$"#, recipe)
            try #require(commands.count == 3)
            for command in [commands[2], commands[0], commands[1]] { _ = try await run(command) }
            #expect(calls == ["Hide local_ada/\(id)", "Next", "Previous"])
        }
    }

    @Test(arguments: texts)
    func `a photo becomes the wallpaper through the portal`(text: String) async throws {
        let portal = try await FakeWallpaperPortal()
        try await withPhoto(text) { _, _, image in
            try Data("image".utf8).write(to: URL(filePath: image))
            let command = #"(?m)^# {3}(imagefeedctl .*)$"#
            let watch = try start("exec " + Self.match(command, example: "wallpaper-photo"))
            try await portal.images.wait { $0.isEmpty ? nil : true }
            watch.terminate()
            let result = try await watch.result()
            #expect(result.error == "")
        }
        #expect(portal.images.value == [5])
    }

    @Test(
        arguments: [
            (0, ""), (1, "wallpaper-photo: The user refused the wallpaper.\n"),
            (2, "wallpaper-photo: The desktop portal did not set the wallpaper.\n"),
        ] as [(UInt32, String)])
    func `wallpaper-photo ends with an error unless the portal has set the wallpaper`(
        response: UInt32, message: String
    ) async throws {
        let portal = try await FakeWallpaperPortal(response: response)
        let result = try await start("wallpaper-photo /dev/null")
            .result(status: response == 0 ? 0 : 1)
        #expect(result.error == message)
        #expect(portal.images.value == [0])
    }

    @Test func `a wallpaper without a portal is an error`() async throws {
        for (file, message) in [
            ("/dev/null", "org.freedesktop.portal.Desktop"), ("/nonexistent", "/nonexistent"),
        ] {
            let result = try await start("wallpaper-photo \(file)").result(status: 1)
            #expect(result.error.hasPrefix("wallpaper-photo: "))
            #expect(result.error.contains(message))
            #expect(result.error.split(separator: "\n").count == 1)
        }
    }

    @Test(arguments: texts)
    func `the commands of the manual page work with any photo`(text: String) async throws {
        try await withPhoto(text) { service, id, image in
            let page = try Control.file("man/imagefeedctl.1")
                .replacing("\\(dq", with: "\"").replacing("\\e", with: "\\")
            _ = try await run(try Self.match(#"(?m)^\.Dl (imagefeedctl toggle .*)$"#, page))
            #expect(service.account.calls.value.last == "Toggle \(id)")
            _ = try await run(try Self.match(#"(?m)^\.Dl (imagefeedctl open .*)$"#, page))
            #expect(try Control.content("opened") == image + "\n")
            let saving = try Self.match(
                #"(?s)Save all photos that you like:\n\.Bd [^\n]*\n(.*?)\.Ed"#, page)
            _ = try await run(saving)
            let folder = try PrivateBus.current.directory.appending("Liked")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files == [DownloadCommand.fileName(ofID: id, mediaType: "image/jpeg")])
        }
    }

    @Test func `no recipe inserts data into a shell command`() throws {
        for name in [
            "eww.yuck", "conky.conf", "conky-photo", "waybar.jsonc", "polybar.ini", "like-photo",
            "sway.conf", "hyprland.conf", "wallpaper-photo",
        ] {
            let recipe = try Control.file("dist/examples/\(name)")
            let words = ["xargs", "eval", "sh -c", "XDG_RUNTIME_DIR"]
            #expect(words.filter(recipe.contains) == [], "\(name)")
        }
    }
}

/// A simulated desktop portal that can set wallpapers.
@MainActor private final class FakeWallpaperPortal {
    /// The sizes of the received files in bytes.
    let images = Observed<[Int]>([])
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object: ExportedObject
    private let request = ExportedObject("/org/freedesktop/portal/desktop/request/1")
    /// The result of each request: 0 for success, 1 for a refusal of the user, 2 for another failure.
    private let response: UInt32

    init(response: UInt32 = 0) async throws {
        self.response = response
        let path: ObjectPath = "/org/freedesktop/portal/desktop"
        object = ExportedObject(path)
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: path) { ErrorReply(.failed, "\($0)") }
        object.add(Self.interface, on: self)
        request.add(Self.requestInterface, on: self)
        tree.export(object)
        tree.export(request)
        tree.start()
        _ = try await connection.requestName(
            "org.freedesktop.portal.Desktop", replacing: false, onLost: {})
    }

    private static let interface = BusInterface<FakeWallpaperPortal>(
        "org.freedesktop.portal.Wallpaper",
        [
            .method("SetWallpaperFile", in: ["parent", "file", "options"], out: ["handle"]) {
                (portal, _: String, file: FileDescriptor, _: [String: Variant]) -> ObjectPath in
                var status = stat()
                fstat(file.rawValue, &status)
                portal.images.append(Int(status.st_size))
                // The response may arrive before the reply.
                portal.request.emit(
                    "org.freedesktop.portal.Request", "Response", portal.response,
                    [:] as [String: Variant])
                return portal.request.path
            }
        ])

    private static let requestInterface = BusInterface<FakeWallpaperPortal>(
        "org.freedesktop.portal.Request",
        [.signal("Response", ["response", "results"], UInt32.self, [String: Variant].self)])
}
