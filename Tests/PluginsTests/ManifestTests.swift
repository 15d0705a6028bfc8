import Logging
import Plugins
import ProviderKit
import TestSupport
import Testing

/// Manifests, good and bad.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct ManifestTests {
    static let good = """
        [Provider]
        Id=good
        Name=Good photos
        Exec=/usr/bin/true --serve
        Capabilities=feed;like;
        DefaultSource=home
        Sources=home;tag:*;
        Hosts=example.org;*.example.net;

        [Authentication]
        Type=key
        Header=X-Key
        TokenHosts=api.example.org;
        """

    private func providers(_ files: [String: String]) throws -> [any InstalledProvider] {
        let directory = try TemporaryDirectory()
        for (name, text) in files { try directory.write(text, to: "providers/\(name)") }
        let host = PluginHost(
            folders: [directory.appending("providers")], reserved: ["local"],
            confinements: [.none], logger: .silent
        ) { _ in ProviderSettings() }
        host.start()
        return host.providers
    }

    @Test func `a manifest says what there is to know`() throws {
        let provider = try #require(try providers(["good.provider": Self.good]).first)
        #expect(provider.condition.state == .ready, "\(provider.condition.reason)")
        #expect(provider.info.id == "good")
        #expect(provider.info.name == "Good photos")
        #expect(provider.info.authentication == .password)
        #expect(provider.info.capabilities == [.feed, .like])
        #expect(provider.info.defaultSource == SourceID("home"))
        let login = try #require(provider as? any KeyLogin)
        let access = try login.access(ProviderSettings(), server: "")
        #expect(access.keyField == "X-Key: ")
        #expect(access.keyOrigins == ["https://api.example.org"])
    }

    @Test(arguments: [
        ("Id=good", "Id=other", "Id is not good"), ("Id=good\n", "", "Id in [Provider] is missing"),
        ("Name=Good photos", "Name=", "Name in [Provider] is missing"),
        ("/usr/bin/true --serve", "/usr/bin/nothing-there", "is not there"),
        ("/usr/bin/true --serve", "/etc/passwd", "cannot be run"),
        ("/usr/bin/true --serve", "/usr/bin/true \"x", "quotation mark"),
        ("feed;like;", "fly;", "fly is no capability"), ("feed;like;", "like;", "no feed"),
        ("DefaultSource=home", "DefaultSource=away", "none of Sources"),
        ("Hosts=example.org", "Hosts=localhost", "localhost"),
        ("Hosts=example.org", "Hosts=http://127.0.0.1:631", "AllowLoopback=true"),
        ("Hosts=example.org", "Hosts=https://example.org", "leave the scheme out"),
        ("Type=key", "Type=magic", "magic"), ("Header=X-Key", "Header=X Key", "header field"),
        ("TokenHosts=api.example.org;", "", "TokenHosts"),
        ("TokenHosts=api", "TokenHosts=*", "TokenHosts"),
        ("Sources=", "LastingPlaces=often\nSources=", "LastingPlaces"),
        ("Sources=", "LikedTogether=ab\nSources=", "LikedTogether"),
        ("Type=key", "Type=federated\nScopes=a;\nTokenRefusals=no;", "TokenRefusals"),
        ("Type=key", "Type=federated", "Scopes"),
        ("[Authentication]", "[Login]", "[Login] is no group"),
        ("Hosts=", "Host=", "Host in [Provider] is not known"),
        ("[Provider]", "what\n[Provider]", "Line 1"),
    ])
    func `a bad manifest is listed with its reason`(
        _ part: String, _ bad: String, _ reason: String
    ) throws {
        let text = Self.good.replacing(part, with: bad)
        try #require(text != Self.good)
        let provider = try #require(try providers(["good.provider": text]).first)
        #expect(provider.condition.state == .invalid)
        #expect(provider.condition.reason.contains(reason), "\(provider.condition.reason)")
        #expect(provider.info.id == "good")
    }

    @Test func `whatever the file is called, it is listed`() throws {
        let found = try providers([
            "local.provider": Self.good, "Ä b.provider": Self.good, "good.provider": Self.good,
            "other.txt": "",
        ])
        #expect(found.map(\.info.id) == ["_c3_84_20b_2eprovider", "good", "local_2eprovider"])
        #expect(found.map(\.condition.state) == [.invalid, .ready, .invalid])
    }
}
