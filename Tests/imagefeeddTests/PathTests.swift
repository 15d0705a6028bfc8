import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Tests of folders whose names are not UTF-8, and of the limits of the unit.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct PathTests {
    private func shell(_ script: String) async throws {
        let result = try await ChildProcess(
            "/bin/sh", ["-ec", "cd \"$HOME\"; e=$(printf '\\351')\n\(script)"],
            environment: try RunningDaemon.environment()
        ).result()
        try #require(result.exit == .code(0), "\(result.error)")
    }

    @Test(arguments: [
        "echo \"XDG_PICTURES_DIR=\\\"\\$HOME/caf$e\\\"\" >.config/user-dirs.dirs",
        "printf '[Provider local]\\nDirectory=%s\\n' \"$HOME/caf$e\" >.config/imagefeed/imagefeed.conf",
        "printf '[Provider local]\\nDirectory=~/%s\\n' \"caf$e\" >.config/imagefeed/imagefeed.conf",
    ])
    func `the name of a pictures folder can be invalid UTF-8`(setup: String) async throws {
        try Pictures.add("Dunes.png", folder: "home/here")
        try await shell("mkdir -p .config/imagefeed; mv here \"caf$e\"; \(setup)")
        let (_, _, ada) = try await startWithUser()
        let photo = try #require(try await ada.page("", cursor: "", count: 9).photos.first)
        #expect(photo["title"] == .string("Dunes"))
        // The path is a link in the cache, because paths on D-Bus are UTF-8.
        let image = try await ada.imagePath(try #require(photo["id"]?.string), size: "full")
        #expect(FileManager.default.contents(atPath: image) == Pictures.png)
    }

    @Test(arguments: ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"])
    func `a folder of the daemon that is not UTF-8 is rejected`(variable: String) async throws {
        let folder = try PrivateBus.current.directory.appending("folders")
        let result = try await ChildProcess(
            "/bin/sh",
            [
                "-c",
                "mkdir '\(folder)'; export \(variable)=\"\(folder)/$(printf '\\351')\"; exec \(RunningDaemon.path)",
            ], environment: try RunningDaemon.environment()
        ).result()
        #expect(result.exit == .code(1))
        #expect(
            result.error
                == "imagefeedd: \(variable) is not valid UTF-8, as paths on D-Bus have to be; set it to another folder.\n"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func `a shared folder that is not UTF-8 is ignored`() async throws {
        let directory = try PrivateBus.current.directory
        try Pictures.add("Dunes.png", folder: "other")
        try directory.write(
            "[Provider local]\nDirectory=\(directory.appending("other"))\n",
            to: "shared/imagefeed/imagefeed.conf")
        let (_, _, ada) = try await startWithUser(launcher: [
            "/bin/sh", "-c",
            "export XDG_CONFIG_DIRS=\"/$(printf '\\351'):\(directory.appending("shared"))\"; exec \"$0\" \"$@\"",
        ])
        #expect(try await ada.page("", cursor: "", count: 9).photos.count == 1)
    }

    @Test(arguments: [("$$", true), ("1", false)])
    func `only a daemon that systemd started reports missing limits`(
        id: String, isService: Bool
    ) async throws {
        // The variable is valid only with the ID of the process itself.
        let daemon = try await RunningDaemon(launcher: [
            "/bin/sh", "-c", "SYSTEMD_EXEC_PID=\(id) exec \"$0\" \"$@\"",
        ])
        if isService { try await daemon.waitForLog("are not in force") }
        try await daemon.stop()
        let lines = daemon.process.standardError.value.text.split(separator: "\n")
            .filter { $0.contains("are not in force") }
        #expect(lines.map { $0.contains("NoNewPrivileges") } == (isService ? [true] : []))
    }
}
