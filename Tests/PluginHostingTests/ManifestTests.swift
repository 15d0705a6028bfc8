import Glibc
import Logging
import ProviderKit
import TestSupport
import Testing

@testable import PluginHosting

/// Valid and invalid manifests.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ManifestTests {
    static let good = """
        [Provider]
        Id=good
        Name=Good photos
        Exec=/usr/bin/true --serve
        Capabilities=feed;like;
        DefaultSource=home
        Sources=home;likes;tag:*;
        Hosts=example.org;*.example.net;

        [Authentication]
        Type=key
        Header=X-Key
        TokenHosts=api.example.org;
        """

    /// Starts a host of a folder with files.
    private func host(_ files: [String: String]) throws -> (TemporaryDirectory, PluginHost) {
        let directory = try TemporaryDirectory()
        for (name, text) in files { try directory.write(text, to: "providers/\(name)") }
        let host = PluginHost(of: directory.appending("providers"))
        host.start()
        return (directory, host)
    }

    /// Returns the provider of ``good`` with another text in place of a part.
    private func provider(_ part: String, _ other: String) throws -> any InstalledProvider {
        let text = Self.good.replacing(part, with: other)
        return try #require(try host(["good.provider": text]).1.providers.first)
    }

    @Test func `a manifest describes its provider`() throws {
        let provider = try provider("Id=good", "Id=good")
        #expect(provider.condition.state == .ready, "\(provider.condition.reason)")
        #expect(provider.info.id == "good")
        #expect(provider.info.name == "Good photos")
        #expect(provider.info.authentication == .password)
        #expect(provider.info.capabilities == [.feed, .like])
        #expect(provider.info.defaultSource == SourceID("home"))
        let login = try #require(provider as? any KeyLogin)
        let access = try login.access(noSettings, server: "")
        #expect(access.keyField == "X-Key: ")
        #expect(access.keyOrigins == ["https://api.example.org"])
    }

    @Test(arguments: [
        ("feed;like;", "home; likes ; tag:*; "), ("feed;like;search;", "home;likes;search:*;"),
        ("feed;like;search;", "home;likes;*;"),
    ])
    func `a list may contain blanks, and the sources that of the search or all`(
        _ capabilities: String, _ sources: String
    ) throws {
        let part = "feed;like;\nDefaultSource=home\nSources=home;likes;tag:*;"
        let provider = try provider(part, "\(capabilities)\nDefaultSource=home\nSources=\(sources)")
        #expect(provider.condition.state == .ready, "\(provider.condition.reason)")
    }

    @Test(arguments: [
        ("Id=good", "Id=other", "Id must be good"),
        ("Id=good\n", "", "Id in [Provider] is missing"),
        ("Name=Good photos", "Name=", "Name in [Provider] is missing"),
        ("/usr/bin/true --serve", "/usr/bin/nothing-there", "does not exist"),
        ("/usr/bin/true --serve", "/etc/passwd", "is not executable"),
        ("/usr/bin/true --serve", "/usr/bin/true \"x", "quotation mark"),
        ("feed;like;", "fly;", "fly is not a capability"),
        ("feed;like;", "like;", "does not contain feed"),
        ("Sources=home;likes;", "Sources=home;", "Sources does not contain likes"),
        ("feed;like;", "feed;search;", "Sources does not contain search:*"),
        ("DefaultSource=home", "DefaultSource=away", "matches no entry of Sources"),
        ("Hosts=example.org", "Hosts=localhost", "localhost"),
        ("Hosts=example.org", "Hosts=http://127.0.0.1:631", "AllowLoopback=true"),
        ("Hosts=example.org", "Hosts=https://example.org", "name only its host"),
        ("Type=key", "Type=magic", "magic"), ("Header=X-Key", "Header=X Key", "header field"),
        ("Header=X-Key", "Header=Host", "only the daemon sets"),
        ("Header=X-Key", "Header=transfer-encoding", "only the daemon sets"),
        ("TokenHosts=api.example.org;", "", "TokenHosts"),
        ("TokenHosts=api", "TokenHosts=*", "TokenHosts"),
        ("Header=X-Key", "HomeServers=true", "HomeServers requires Server=true"),
        (
            "TokenHosts=api.example.org;", "Server=true\nHomeServers=true",
            "Hosts must be empty with HomeServers=true"
        ),
        ("Sources=", "LastingPlaces=often\nSources=", "LastingPlaces"),
        ("Sources=", "LikedTogether=ab\nSources=", "LikedTogether"),
        ("Type=key", "Type=federated\nScopes=a;\nTokenRefusals=no;", "TokenRefusals"),
        ("Type=key", "Type=federated", "Scopes"),
        ("[Authentication]", "[Login]", "[Login] is not a group"),
        ("Hosts=", "Host=", "Host in [Provider] is not a known key"),
        ("[Provider]", "what\n[Provider]", "Line 1"),
        ("Hosts=", "  Hosts=", "Line 8 begins with a blank"),
        ("[Provider]\nId", "  [Provider]\n\tId", "Line 1 and 1 more begin with a blank"),
        ("Hosts=", "Name=Other\nHosts=", "Name in [Provider] is set more than once"),
    ])
    func `an invalid manifest is listed with its reason`(
        _ part: String, _ bad: String, _ reason: String
    ) throws {
        try #require(Self.good.contains(part))
        let provider = try provider(part, bad)
        #expect(provider.condition.state == .invalid)
        #expect(provider.condition.reason.contains(reason), "\(provider.condition.reason)")
        #expect(provider.info.id == "good")
    }

    @Test(arguments: [
        ("Type=key", "Type=apikey", 11), ("Header=X-Key", "Header=X Key", 12),
        ("Header=X-Key", "Prefix=ä", 12), ("TokenHosts=api", "TokenHosts=*", 13),
        ("Type=key", "Type=none\nServer=maybe", 12), ("Type=key\n", "", 10),
        ("Hosts=example", "Hosts=localhost;example", 8),
        ("Hosts=", "Name=Other\nHosts=", 8), ("Hosts=", "\tHosts=", 8),
    ])
    func `a problem names its line`(_ part: String, _ bad: String, _ line: Int) throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.good.replacing(part, with: bad), to: "good.provider")
        let problems = ManifestProblems()
        _ = Manifest(path: directory.appending("good.provider"), settings: noSettings, problems)
        #expect(problems.all.first?.line == line, "\(problems.all)")
    }

    @Test(arguments: [
        String(repeating: "Key\u{1}=value\n", count: 900),
        (0..<900).map { "Unknown\($0)=value\n" }.joined(),
        (0..<450).map { "[Unknown\($0)]\nKey=value\n" }.joined(),
        String(repeating: "Name=Other\n", count: 900), String(repeating: "what\n", count: 900),
    ])
    func `of many problems the first ones are reported, in a short time`(_ lines: String) throws {
        let directory = try TemporaryDirectory()
        let text = Self.good.replacing("[Authentication]", with: "\(lines)[Authentication]")
        let path = try directory.write(text, to: "good.provider")
        let clock = ContinuousClock()
        // The fastest of several rounds: other tests run at the same time.
        let time = (0..<5).map { _ in
            clock.measure {
                let problems = ManifestProblems()
                _ = Manifest(path: path, settings: noSettings, problems)
                #expect(problems.all.count == 20)
            }
        }.min()
        #expect(try #require(time) < .milliseconds(300))
    }

    @Test func `a manifest with too many lines is not read`() throws {
        let keys = (0..<3000).map { "\nKey\($0)=value" }.joined()
        let provider = try provider("api.example.org;", "api.example.org;\(keys)")
        #expect(provider.condition.reason == "The manifest has more than 1000 lines.")
    }

    @Test func `an invalid manifest is read again only after a change`() throws {
        let (directory, host) = try host([
            "good.provider": Self.good.replacing("Type=key", with: "Type=kex")
        ])
        let path = directory.appending("providers/good.provider")
        #expect(host.providers.map(\.condition.state) == [.invalid])
        // Another text with the size and the time of the first one, which only a reader notices.
        var status = stat()
        try #require(stat(path, &status) == 0)
        let file = open(path, O_WRONLY)
        defer { close(file) }
        try #require(write(file, Self.good, Self.good.utf8.count) == Self.good.utf8.count)
        func setTime(_ time: timespec) { _ = futimens(file, [time, time]) }
        setTime(status.st_mtim)
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.invalid])
        setTime(timespec(tv_sec: 1, tv_nsec: 0))
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.ready])
    }

    @Test func `a disabled plugin has an ID and no provider`() throws {
        let directory = try TemporaryDirectory()
        try directory.write(Self.good, to: "providers/good.provider")
        let host = PluginHost(
            folders: [directory.appending("providers")], reserved: [], confinements: [.none],
            logger: .silent
        ) { _ in ProviderSettings(["Enabled": "false"]) }
        host.start()
        #expect(host.providers.isEmpty)
        #expect(host.ids == ["good"])
    }

    @Test func `an invalid manifest is read again after a change of its program`() throws {
        let (directory, host) = try host([
            "good.provider": Self.good.replacing("/usr/bin/true", with: "./good/program")
        ])
        #expect(host.providers.map(\.condition.state) == [.invalid])
        chmod(try directory.write("#!/bin/sh", to: "providers/good/program"), 0o755)
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.ready])
    }

    @Test func `the recipients of a token are the hosts that get it and the command`() throws {
        func recipients(_ part: String, _ other: String) throws -> Set<String> {
            try provider(part, other).tokenRecipients
        }
        let known = try recipients("--serve", "--serve")
        #expect(known.count == 2)
        #expect(known.contains("https://api.example.org"))
        #expect(try recipients("Name=Good", "Name=Better") == known)
        #expect(try recipients("Hosts=example.org;", "Hosts=example.com;") == known)
        #expect(try recipients("--serve", "--steal").subtracting(known).count == 1)
        #expect(
            try recipients("TokenHosts=", "TokenHosts=evil.test;").subtracting(known)
                == ["https://evil.test"])
        #expect(try recipients("Type=key", "Type=none").isEmpty)
        let login = """
            Type=oauth2
            AuthorizationUrl=https://example.org/authorize
            TokenUrl=https://tokens.example.org/
            RevocationUrl=https://revoke.example.org/
            """
        #expect(
            try recipients("Type=key", login).isSuperset(
                of: ["https://tokens.example.org", "https://revoke.example.org"]))
    }

    @Test func `a manifest with any file name is listed`() throws {
        let found = try host([
            "local.provider": Self.good, "Ä b.provider": Self.good, "good.provider": Self.good,
            "other.txt": "",
        ]).1.providers
        #expect(found.map(\.info.id) == ["_c3_84_20b_2eprovider", "good", "local_2eprovider"])
        #expect(found.map(\.condition.state) == [.invalid, .ready, .invalid])
    }

    @Test func `the reason for an invalid manifest contains no control characters`() throws {
        let provider = try provider("[Provider]", "[\u{1b}]0;x\u{7}\u{202e}]\n[Provider]")
        let reason = "\(provider.condition.reason)"
        #expect(reason.contains("Line 1"))
        #expect(reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e })
    }

    @Test(arguments: [
        "providers/good.provider", "providers", "providers/good", "providers/good/program",
        "providers/good/script",
    ])
    func `a manifest or program that any user can change is invalid`(_ name: String) throws {
        let (directory, host) = try host([
            "good.provider": Self.good.replacing(
                "/usr/bin/true --serve", with: "./good/program ./good/script"),
            "good/program": "#!/bin/sh", "good/script": "",
        ])
        chmod(directory.appending("providers/good/program"), 0o755)
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.ready])
        chmod(directory.appending(name), 0o777)
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.invalid])
        let reason = try #require(host.providers.first).condition.reason
        #expect(reason.contains("Every user can change"), "\(reason)")
        chmod(directory.appending(name), 0o755)
        host.reload()
        #expect(host.providers.map(\.condition.state) == [.ready])
    }

    @Test func `a change of permissions is detected`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Self.good, to: "providers/good.provider")
        chmod(path, 0o666)
        let host = PluginHost(of: directory.appending("providers"))
        let states = Observed<[ProviderCondition.State]>()
        host.onChange = { change in
            for added in change.added { states.append(added.condition.state) }
        }
        host.start()
        #expect(host.providers.map(\.condition.state) == [.invalid])
        chmod(path, 0o644)
        try await states.wait { $0.last == .ready ? true : nil }
    }

    @Test func `manifests beyond the limit are logged`() throws {
        let directory = try TemporaryDirectory()
        for number in 0...1000 { try directory.write("", to: "providers/a\(number).provider") }
        let log = Observed<[String]>()
        let host = PluginHost(
            of: directory.appending("providers"),
            logger: Logger(label: "test") { _ in ListLogHandler(lines: log) })
        host.start()
        #expect(host.providers.count == 1000)
        #expect(log.value.contains { $0.contains("too many manifests") && $0.contains("1001") })
    }
}
