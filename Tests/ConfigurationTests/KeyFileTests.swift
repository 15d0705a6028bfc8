import Configuration
import TestSupport
import Testing

@Suite struct KeyFileTests {
    @Test func `a bad line costs that line`() {
        let file = KeyFile("[Provider local]\nDirectory=/a b\nwhat is this\nEnabled=true\n")
        #expect(file.groups == ["Provider local": ["Directory": "/a b", "Enabled": "true"]])
        #expect(file.badLines.map(\.number) == [3])
    }

    @Test(arguments: ["", "\n\n", "# a remark\n"])
    func `a file without values is no problem`(text: String) {
        let file = KeyFile(text)
        #expect(file.groups.isEmpty)
        #expect(file.badLines.isEmpty)
    }

    @Test func `a value before the first group is a bad line`() {
        #expect(
            KeyFile("Directory=/x\n[Daemon]\nNotifications=false").badLines.map(\.number) == [1])
    }

    @Test func `bytes that are no UTF-8 and nothing else cost their line`() {
        let file = KeyFile("[A]\nk=\u{fffd}\nl=m")
        #expect(file.groups["A"]?["l"] == "m")
    }

    @Test(arguments: [
        ("[Daemon]\nCacheLimit=abc", "[Daemon] CacheLimit: “abc” is no size, such as 512M"),
        (
            "[Daemon]\nNotifications=maybe",
            "[Daemon] Notifications: “maybe” is neither true nor false"
        ),
        ("[Daemon]\nNotificatoins=true", "[Daemon] Notificatoins: there is no such key"),
        ("[Deamon]\nCacheLimit=1G", "[Deamon] CacheLimit: there is no such group"),
        (
            "[Provider unsplash]\nRedirectPort=99999",
            "[Provider unsplash] RedirectPort: “99999” is no port, 1 to 65535"
        ),
        (
            "[Provider local]\nEnabled=perhaps",
            "[Provider local] Enabled: “perhaps” is neither true nor false"
        ),
        ("[Daemon]\nCacheLimit=1G\nNotifications=false\n[Plugins]\nAllowUnsandboxed=true", nil),
        ("[Provider rss]\nUrl=any\nEnabled=\n[X-Mine]\nKey=any", nil),
    ])
    func `what is set and has no effect is told`(text: String, problem: String?) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text + "\n", to: "a.conf")
        let configuration = Configuration(paths: [directory.appending("a.conf")])
        #expect(configuration.problems.map(\.description) == (problem.map { [$0] } ?? []))
    }
}
