import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// The settings of the provider `local`, which take effect at once, and downloads of its photos.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct LocalSettingsTests {
    private func control(
        _ arguments: String..., status: Int32 = 0
    ) async throws -> (output: String, error: String) {
        let result = try await ChildProcess(
            BuiltProducts.path("imagefeedctl"), arguments,
            environment: try RunningDaemon.environment()
        ).result()
        #expect(result.exit == .code(status), "\(arguments) \(result.error)")
        return (result.output, result.error)
    }

    private func titles() async throws -> [String] {
        try await control("feed").output.split(separator: "\n")
            .compactMap { $0.split(separator: "\t").last.map(String.init) }
    }

    @Test func `the settings of the command are stored, and take effect at once`() async throws {
        for name in ["a.png", "x/b.png", "x/c d.png"] { try Pictures.add(name) }
        try Pictures.add("e.png", folder: "home/Other")
        try RunningDaemon.configure("[Provider local]\nShowLocation=false\n")
        let (_, _, _) = try await startWithUser()
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        _ = try await control("configure", "local", "--exclude", "b*", "--exclude", "x/c?d*")
        #expect(try await titles() == ["a"])
        #expect(try RunningDaemon.configuration.contains("Exclude=b*;x/c?d*\n"))
        _ = try await control("configure", "local", "--exclude", "")
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        let other = try PrivateBus.current.directory.appending("home/Other")
        _ = try await control("configure", "local", "--directory", other, "--order", "modified")
        #expect(try await titles() == ["e"])
        #expect(
            try RunningDaemon.configuration
                == "[Provider local]\nOrder=modified\nDirectory=\(other)\nExclude=\nShowLocation=false\n"
        )
        _ = try await control("configure", "local", "--directory", "")
        #expect(Set(try await titles()) == ["a", "b", "c d"])
        let error = try await control("configure", "local", "--directory", "nowhere", status: 1)
        #expect(error.error.hasPrefix("imagefeedctl: nowhere cannot be used: No such file"))
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
        _ = try await control("configure", "local", "--directory", other)
        try await poll { try await slideshow.properties().image == "\(other)/e.png" }
    }

    @Test func `a relative folder of the configuration does not hide the pictures folder`()
        async throws
    {
        try PrivateBus.current.directory.write(
            "XDG_PICTURES_DIR=\"$HOME/Photos\"\n", to: "home/.config/user-dirs.dirs")
        try Pictures.add("a.png", folder: "home/Photos")
        let (_, _, _) = try await startWithUser(
            launcher: ["/usr/bin/env", "XDG_CONFIG_HOME=relative"])
        #expect(try await titles() == ["a"])
    }

    @Test func `the download of a local photo keeps a name that is longer than a title`()
        async throws
    {
        let name = String(repeating: "long name ", count: 24) + "x.png"
        try Pictures.add(name)
        let (_, _, ada) = try await startWithUser()
        let id = try await ada.firstID()
        let folder = try PrivateBus.current.directory.appending("saved")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let output = try await control("download", id, "--output", folder).output
        #expect(output == "\(folder)/\(name)\n")
    }

    @Test func `the download of a local photo keeps the name of its file`() async throws {
        try Pictures.add("My trip, 2.PNG")
        let (_, _, ada) = try await startWithUser()
        let id = try await ada.firstID()
        let folder = try PrivateBus.current.directory.appending("saved")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let output = try await control("download", id, "--output", folder).output
        #expect(output == "\(folder)/My trip, 2.PNG\n")
        #expect(FileManager.default.contents(atPath: "\(folder)/My trip, 2.PNG") == Pictures.png)
        let file = try PrivateBus.current.directory.appending("\(Pictures.home)/My trip, 2.PNG")
        let bytes = Array(file.dropLast(4).utf8) + [0xff] + Array(".PNG\0".utf8)
        #expect(rename(file, bytes.map(CChar.init(bitPattern:))) == 0)
        _ = try await control("refresh")
        #expect(
            try await control("download", id, "--output", folder).output
                == "\(folder)/My trip, 2\u{fffd}.PNG\n")
        let saved = Array("\(folder)/My trip, 2".utf8) + [0xff] + Array(".PNG\0".utf8)
        #expect(access(saved.map(CChar.init(bitPattern:)), F_OK) == 0)
    }
}
