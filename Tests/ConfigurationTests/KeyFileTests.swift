import Foundation
import TestSupport
import Testing

@testable import Configuration

@Suite struct KeyFileTests {
    @Test func `an invalid line is skipped`() {
        let file = KeyFile("[Provider local]\nDirectory=/a b\nwhat is this\nEnabled=true\n")
        #expect(file.groups == ["Provider local": ["Directory": "/a b", "Enabled": "true"]])
        #expect(file.badLines.map(\.number) == [3])
    }

    @Test(arguments: ["", "\n\n", "# a remark\n"])
    func `a file without values is valid`(text: String) {
        let file = KeyFile(text)
        #expect(file.groups.isEmpty)
        #expect(file.badLines.isEmpty)
    }

    @Test(arguments: [
        ("Directory=/x\n[Daemon]\nNotifications=false", "this key is above the first group"),
        (
            "\u{feff}[Provider local]\n[Daemon]\n",
            "the file begins with a byte order mark; save it without one"
        ),
    ])
    func `a value before the first group is an invalid line`(text: String, reason: String) {
        let lines = KeyFile(text).badLines
        #expect(lines.map(\.number) == [1])
        #expect(lines.map { "\($0.reason)" } == [reason])
    }

    @Test(arguments: ["[Provider nextcloud", "  [Provider nextcloud", "[Provider nextcloud] x"])
    func `the keys below an invalid heading are invalid lines`(heading: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("a.conf")
        try directory.write(
            "  [Provider local]\nOrder=taken\n\(heading)\n# a\nExclude=*\nOrder=x\n[Daemon]\nX=1\n",
            to: "a.conf")
        let configuration = Configuration(paths: [path])
        #expect(configuration.group("Provider local") == ["Order": "taken"])
        #expect(
            configuration.problems(plugins: []).map(\.description) == [
                "\(path), line 3: this is neither a group, nor a key with a value, nor a comment",
                "\(path), line 5: there is no such group",
                "\(path), line 6: there is no such group",
                "\(path), line 8: [Daemon] X: there is no such key",
            ])
        #expect(configuration.places["Provider local"]?["Order"]?.line == 2)
    }

    @Test func `a value that is only U+FFFD does not affect other lines`() {
        let file = KeyFile("[A]\nk=\u{fffd}\nl=m")
        #expect(file.groups["A"]?["l"] == "m")
    }

    @Test(arguments: [
        ("[Daemon]\nCacheLimit=abc", "[Daemon] CacheLimit: “abc” is not a size, such as 512M"),
        (
            "[Daemon]\nNotifications=maybe",
            "[Daemon] Notifications: “maybe” is neither true nor false"
        ),
        ("[Daemon]\nNotificatoins=true", "[Daemon] Notificatoins: there is no such key"),
        (
            "[Server photos.lan]\nCertificate=a.pem",
            "[Server photos.lan] Certificate: there is no such key"
        ),
        (
            "[Daemon]\nRefreshInterval=15",
            "[Daemon] RefreshInterval: “15” is not a duration, such as 15m"
        ),
        (
            "[Daemon]\nRefreshInterval=often",
            "[Daemon] RefreshInterval: “often” is not a duration, such as 15m"
        ),
        ("[Daemon]\nRefreshInterval=0", nil),
        ("[Daemon]\nContact=ada@example.org", nil),
        ("[Daemon]\nContact=https://example.org/ada", nil),
        (
            "[Daemon]\nContact=ada",
            "[Daemon] Contact: “ada” is neither a web address nor a mail address, such as ada@example.org"
        ),
        (
            "[Daemon]\nContact=a@b (x)",
            "[Daemon] Contact: “a@b (x)” is neither a web address nor a mail address, such as ada@example.org"
        ),
        ("[Deamon]\nCacheLimit=1G", "[Deamon] CacheLimit: there is no such group"),
        (
            "[Provider unsplash]\nRedirectPort=99999",
            "[Provider unsplash] RedirectPort: “99999” is not a port from 1 to 65535"
        ),
        (
            "[Provider local]\nEnabled=perhaps",
            "[Provider local] Enabled: “perhaps” is neither true nor false"
        ),
        ("[Provider local]\nDirectry=/x", "[Provider local] Directry: there is no such key"),
        ("[Provider daily]\nFoo[de]=x", "[Provider daily] Foo[de]: there is no such key"),
        ("[Provider local]\nOrder[de]=x", "[Provider local] Order[de]: there is no such key"),
        ("[Provider immich]\nOrder=taken", "[Provider immich] Order: there is no such key"),
        ("[Provider locl]\nDirectory=/x", "[Provider locl] Directory: there is no such provider"),
        ("[Provider locl]\nEnabled=false", "[Provider locl] Enabled: there is no such provider"),
        (
            "[Server photos.lan:8443]\nCertificateFile=/a",
            "[Server photos.lan:8443] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        (
            "[Server https://photos.lan]\nCertificateFile=/a",
            "[Server https://photos.lan] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        (
            "[Server photos.lan/]\nCertificateFile=/a",
            "[Server photos.lan/] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        (
            "[Server a b]\nCertificateFile=/a",
            "[Server a b] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        (
            "[Server ada@photos.lan]\nCertificateFile=/a",
            "[Server ada@photos.lan] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        (
            "[Server cafe:8443]\nCertificateFile=/a",
            "[Server cafe:8443] CertificateFile: a server is named by its host without a port, such as photos.lan"
        ),
        ("[Server Photos.lan]\nCertificateFile=/a", nil),
        ("[Server 192.0.2.1]\nCertificateFile=/a", nil),
        ("[Server 2001:db8::1]\nCertificateFile=/a", nil),
        ("[Server bücher.example]\nCertificateFile=/a", nil),
        ("[Server ]\nCertificateFile=/a", "[Server ] CertificateFile: there is no such group"),
        (
            "[Provider unsplash]\nApiUrl=ftp://x",
            "[Provider unsplash] ApiUrl: “ftp://x” is not an address with https://; http:// is only for this computer"
        ),
        (
            "[Provider daily]\nApiUrl=http://bob:secret@a.example",
            "[Provider daily] ApiUrl: “http://…@a.example” is not an address with https://; http:// is only for this computer"
        ),
        ("[Provider unsplash]\nWebUrl=http://127.0.0.1:8080/a/", nil),
        (
            "[Provider mastodon]\nLoopbackServers=a.test=http://8.8.8.8",
            "[Provider mastodon] LoopbackServers: “a.test=http://8.8.8.8” is not a list of servers on this computer, such as photos.test=http://127.0.0.1:3000"
        ),
        ("[Provider mastodon]\nLoopbackServers=a.test=http://127.0.0.1:1", nil),
        ("[Provider rss]\nEnabled=no", "[Provider rss] Enabled: “no” is neither true nor false"),
        ("[Daemon]\nCacheLimit=1G\nNotifications=false\n[Plugins]\nAllowUnsandboxed=true", nil),
        ("[Daemon]\nCacheLimit=1G \nNotifications=false\t\nRefreshInterval=15m ", nil),
        ("[Provider unsplash]\nRedirectPort=43117 ", nil),
        ("[Provider rss]\nUrl=any\nEnabled=\n[X-Mine]\nKey=any", nil),
    ])
    func `entries without an effect are reported`(text: String, problem: String?) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text + "\n", to: "a.conf")
        let configuration = Configuration(paths: [directory.appending("a.conf")])
        #expect(
            configuration.problems(plugins: ["rss"]).map(\.description)
                == (problem.map { ["\(directory.appending("a.conf")), line 2: \($0)"] } ?? []))
    }

    @Test func `providers get numbers and Boolean values without blanks at the end`() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "[Provider rss]\nEnabled=false \nRedirectPort=43117\t\nName=a \n", to: "a.conf")
        let configuration = Configuration(paths: [directory.appending("a.conf")])
        #expect(
            configuration.group("Provider rss") == [
                "Enabled": "false", "RedirectPort": "43117", "Name": "a ",
            ])
    }

    @Test(arguments: [
        ("Photos.lan", "photos.lan"), ("bücher.example", "xn--bcher-kva.example"),
        ("127.1", "127.0.0.1"), ("FD00:0::1", "fd00::1"), ("photos.lan:443", nil),
        ("a b", nil), ("ada@photos.lan", nil),
    ])
    func `a group of a server names the host of requests`(name: String, host: String?) {
        #expect(Configuration.host(ofServer: name) == host)
    }

    @Test func `a line is reported if a later line of the file sets the key again`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("[Daemon]\nContact=a@b.c\n", to: "a.conf")
        try directory.write(
            "[Daemon]\nContact=a@b.d\n[X-Mine]\n[Daemon]\nContact=a@b.e\nContact=a@b.f\n",
            to: "b.conf")
        let paths = ["a.conf", "b.conf"].map(directory.appending)
        let configuration = Configuration(paths: paths)
        #expect(configuration.contact == "a@b.f")
        #expect(
            configuration.problems(plugins: []).map(\.description) == [
                "\(paths[1]), line 2: [Daemon] Contact: line 5 sets this key again",
                "\(paths[1]), line 5: [Daemon] Contact: line 6 sets this key again",
            ])
    }

    @Test func `the line of an entry without an effect is that of its last value`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("[Daemon]\nNotificatoins=a\n[Provider local]\nOrder=x\n", to: "a.conf")
        try directory.write(
            "# a\nnonsense\n[Provider local]\n\n Order = y\n[Daemon]\n[Provider local]\r\nOrder=z\r\n",
            to: "b.conf")
        let paths = ["a.conf", "b.conf"].map(directory.appending)
        #expect(
            Configuration(paths: paths).problems(plugins: []).map(\.description) == [
                "\(paths[1]), line 2: this is neither a group, nor a key with a value, nor a comment",
                "\(paths[1]), line 5: [Provider local] Order: line 8 sets this key again",
                "\(paths[0]), line 2: [Daemon] Notificatoins: there is no such key",
                "\(paths[1]), line 8: [Provider local] Order: “z” is neither taken nor modified",
            ])
    }

    @Test func `names with invalid UTF-8 are reported with their lines`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("a.conf")
        let text = "[Daemon]\nContakt?=1\n[Demon?]\nContact=1\n"
        let bytes = text.utf8.map { $0 == UInt8(ascii: "?") ? 0xff : $0 }
        try Data(bytes).write(to: URL(filePath: path))
        #expect(
            Configuration(paths: [path]).problems(plugins: []).map(\.description) == [
                "\(path), line 2: [Daemon] Contakt\u{fffd}: there is no such key",
                "\(path), line 4: [Demon\u{fffd}] Contact: there is no such group",
            ])
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [
        ("90s", 90), ("15m", 900), ("2h", 7200), ("0", 0), ("0s", 0), ("15", nil), ("m", nil),
        ("-5m", nil), ("+5m", nil), ("1.5h", nil), ("5 m", nil), ("5M", nil), ("5d", nil),
        ("9223372036854775807h", nil), ("99999999999999999999s", nil), ("", nil),
    ])
    func `a duration is a number with a unit`(text: String, seconds: Int?) throws {
        let directory = try TemporaryDirectory()
        try directory.write("[Daemon]\nRefreshInterval=\(text)\n", to: "a.conf")
        let configuration = Configuration(paths: [directory.appending("a.conf")])
        #expect(
            configuration.duration("Daemon", "RefreshInterval") == seconds.map { .seconds($0) })
        // An empty value is equivalent to an unset one.
        #expect(configuration.problems(plugins: []).isEmpty == (seconds != nil || text.isEmpty))
    }
}
