import ServiceSimulator
import TestSupport
import Testing

/// Tests of the error messages of `imagefeedctl`: one line with the next step, and an exit status for scripts.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct AdviceTests {
    /// A command line, its exit status, and a part of its error message.
    private typealias Case = (line: String, status: Int32, advice: String)

    private func check(_ cases: [Case]) async throws {
        for (line, status, advice) in cases {
            for words in [line, line + " --json"] {
                let arguments = words.split(separator: " ").map(String.init)
                let (exit, output, error) = try await Terminal.start(arguments).result()
                #expect(exit == .code(status), "\(words): \(error)")
                #expect(output.isEmpty, "\(words)")
                #expect(error.hasPrefix("imagefeedctl: "), "\(words): \(error)")
                #expect(error.split(separator: "\n").count == 1, "\(words): \(error)")
                #expect(error.contains(advice), "\(words): \(error)")
            }
        }
    }

    @Test func `errors without an account name the next step`() async throws {
        _ = try await RunningDaemon()
        let logIn = "imagefeedctl login PROVIDER"
        let needsAccount = [
            "feed", "sources", "likes", "profile", "refresh", "logout --yes", "photo x", "like x",
            "unlike x", "toggle x", "image x", "open x", "download x", "share x",
        ]
        try await check(needsAccount.map { ($0, 77, logIn) })
        try await check(
            ["default x", "logout x --yes", "remove x --yes", "feed --account x", "profile x"]
                .map { ($0, 1, "imagefeedctl accounts") })
        try await check([
            ("login nothing", 1, "imagefeedctl providers"),
            ("configure nothing --client-id a", 1, "imagefeedctl providers"),
            ("login unsplash", 78, "imagefeedctl configure unsplash"),
            ("login mastodon", 64, "--server"),
            ("login local --username ada", 1, "--register"),
            ("configure unsplash", 64, "--client-id"),
            ("login daily", 78, "without a contact; set Contact= in the group [Daemon]"),
            ("configure daily", 1, "such as Contact="),
        ])
    }

    @Test func `the status without accounts fails only if a file is unreadable`() async throws {
        try RunningDaemon.configure("[Daemon]\nTypo=1\n")
        let daemon = try await RunningDaemon()
        let status = try await Terminal.run("status")
        #expect(status.exit == .code(0) && status.output.contains("Typo"))
        try await daemon.stop()
        try PrivateBus.current.directory.write(
            String(repeating: "garbage ", count: 2_000), to: "\(Disk.data)/data.sqlite")
        _ = try await RunningDaemon()
        #expect(try await Terminal.run("status").exit == .code(1))
    }

    @Test func `errors of a local user name the next step`() async throws {
        try Pictures.add(["Newest"])
        _ = try await RunningDaemon()
        _ = try await TestClient().logIn("ada")
        try await check([
            ("login local --username ada --register", 1, "omit --register"),
            ("feed --source album:none", 1, "imagefeedctl sources"),
            ("refresh --source album:none", 1, "imagefeedctl sources"),
            ("feed --cursor nonsense", 64, "cursor"),
            ("photo none", 1, "no photo"),
            ("logout", 64, "--yes"),
            ("remove local_ada", 64, "--yes"),
        ])
        #expect(try await Terminal.run("logout", "--yes").exit == .code(0))
        let again = "imagefeedctl login local --account local_ada"
        try await check(
            [
                "feed --account local", "photo local_ada/x", "like local_ada/x", "default local",
                "refresh --account local",
            ].map { ($0, 77, again) })
        let profile = try await Terminal.run("profile", "local")
        #expect(profile.exit == .code(0))
        #expect(profile.error == "local_ada is logged out.\n")
    }

    @Test func `cached data is shown offline and other commands recommend a retry`() async throws {
        let fixture = try await UnsplashFixture()
        _ = try await fixture.logIn("ada")
        let photos = Terminal.photos(try await Terminal.output("feed", "--count", "2"))
        try #require(photos.count == 2)
        fixture.unsplash.stop()
        try await check(
            [
                "refresh", "photo none", "toggle none", "feed --source topic:none",
                "image \(photos[0]) --size full", "download \(photos[0])",
            ].map { ($0, 75, "Try again when the network is back") })
        for line in ["feed --count 2", "sources", "profile", "status", "accounts"] {
            let arguments = line.split(separator: " ").map(String.init)
            let (exit, output, error) = try await Terminal.start(arguments).result()
            #expect(exit == .code(0), "\(line): \(error)")
            #expect(!output.isEmpty, "\(line)")
        }
        let like = try await Terminal.run("like", photos[1])
        #expect(like.exit == .code(0))
        #expect(like.output == "\(photos[1])\tliked\tqueued\n")
        #expect(like.error.contains("sent later"))
    }
}
