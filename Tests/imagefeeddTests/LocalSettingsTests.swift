import Contract
import Foundation
import TestSupport
import Testing

/// The settings of the provider `local`, which take effect at once, and downloads of its photos.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct LocalSettingsTests {
    private func titles() async throws -> [String] {
        try await Terminal.output("feed").split(separator: "\n")
            .compactMap { $0.split(separator: "\t").last.map(String.init) }
    }

    @Test func `the settings of the command are stored, and take effect at once`() async throws {
        for name in ["a.png", "x/b.png", "x/c d.png"] { try Pictures.add(name) }
        try Pictures.add("e.png", folder: "home/Other")
        try RunningDaemon.configure("[Provider local]\nShowLocation=false\n")
        let (_, _, _) = try await startWithUser()
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        _ = try await Terminal.output(
            "configure", "local", "--exclude", "b*", "--exclude", "x/c?d*")
        #expect(try await titles() == ["a"])
        #expect(try RunningDaemon.configuration.contains("Exclude=b*;x/c?d*\n"))
        _ = try await Terminal.output("configure", "local", "--exclude", "")
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        let other = try PrivateBus.current.directory.appending("home/Other")
        _ = try await Terminal.output(
            "configure", "local", "--directory", other, "--order", "modified")
        #expect(try await titles() == ["e"])
        #expect(
            try RunningDaemon.configuration
                == "[Provider local]\nOrder=modified\nDirectory=\(other)\nExclude=\nShowLocation=false\n"
        )
        _ = try await Terminal.output("configure", "local", "--directory", "")
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        let refused = try await Terminal.run("configure", "local", "--directory", "nowhere")
        #expect(refused.exit == .code(1))
        #expect(refused.error.hasPrefix("imagefeedctl: nowhere cannot be used: No such file"))
    }

    @Test func `the slideshow shows a photo of a new folder at once`() async throws {
        try Pictures.add("e.png", folder: "home/Other")
        let other = try PrivateBus.current.directory.appending("home/Other")
        // A photo with the content of the current one would be found as that photo.
        try (Pictures.png + Data([1])).write(to: URL(filePath: "\(other)/e.png"))
        let (_, client, _) = try await startWithUser(["a", "b"])
        let slideshow = client.service.slideshow
        try await slideshow.setImageSize("full")
        try await slideshow.next()
        _ = try await Terminal.output("configure", "local", "--directory", other)
        try await poll { try await slideshow.properties().image == "\(other)/e.png" }
    }

    @Test func `a relative XDG_CONFIG_HOME does not hide the pictures folder`() async throws {
        try PrivateBus.current.directory.write(
            "XDG_PICTURES_DIR=\"$HOME/Photos\"\n", to: "home/.config/user-dirs.dirs")
        try Pictures.add("a.png", folder: "home/Photos")
        let (_, _, _) = try await startWithUser(
            launcher: ["/usr/bin/env", "XDG_CONFIG_HOME=relative"])
        #expect(try await titles() == ["a"])
    }

    @Test func `another pictures folder of the desktop is read with the configuration`()
        async throws
    {
        func choose(_ folder: String) throws {
            try PrivateBus.current.directory.write(
                "XDG_PICTURES_DIR=\"$HOME/\(folder)\"\n", to: "home/.config/user-dirs.dirs")
        }
        try Pictures.add("a.png", folder: "home/Photos")
        try Pictures.add("b.png", folder: "home/Other")
        try choose("Photos")
        let (daemon, client, ada) = try await startWithUser(arguments: ["--log-level", "info"])
        #expect(try await client.titles(ada) == ["a"])
        try choose("Other")
        try await daemon.configure("")
        try await client.waitUntilReady(ada)
        try await poll { try await client.titles(ada) == ["b"] }
    }

    /// Adds a picture, downloads it with the command, and expects the name and the content of the file.
    ///
    /// - Returns: The ID of the photo, and the folder of the downloaded file.
    private func download(_ name: String) async throws -> (id: String, folder: String) {
        try Pictures.add(name)
        let (_, _, ada) = try await startWithUser()
        let id = try await ada.firstID()
        let folder = try PrivateBus.current.directory.appending("saved")
        #expect(mkdir(folder, 0o700) == 0)
        let output = try await Terminal.output("download", id, "--output", folder)
        #expect(output == "\(folder)/\(name)\n")
        #expect(FileManager.default.contents(atPath: "\(folder)/\(name)") == Pictures.png)
        return (id, folder)
    }

    @Test func `a downloaded file keeps a name that is longer than a title`() async throws {
        _ = try await download(String(repeating: "long name ", count: 24) + "x.png")
    }

    @Test func `a downloaded file has the name of its photo, also if not UTF-8`() async throws {
        let (id, folder) = try await download("My trip, 2.PNG")
        let file = try PrivateBus.current.directory.appending("\(Pictures.home)/My trip, 2.PNG")
        let bytes = Array(file.dropLast(4).utf8) + [0xff] + Array(".PNG\0".utf8)
        #expect(rename(file, bytes.map(CChar.init(bitPattern:))) == 0)
        _ = try await Terminal.output("refresh")
        #expect(
            try await Terminal.output("download", id, "--output", folder)
                == "\(folder)/My trip, 2\u{fffd}.PNG\n")
        let saved = Array("\(folder)/My trip, 2".utf8) + [0xff] + Array(".PNG\0".utf8)
        #expect(access(saved.map(CChar.init(bitPattern:)), F_OK) == 0)
    }
}
