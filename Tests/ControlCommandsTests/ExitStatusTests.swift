import BusAPI
import DBus
import TestSupport
import Testing

@MainActor
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct ExitStatusTests {
    @Test(
        arguments: [
            (["photo", "NeedsLogin"], 77), (["photo", "NotConfigured"], 78),
            (["photo", "Offline"], 75),
            (["photo", "RateLimited"], 75), (["photo", "SecretStoreLocked"], 75),
            (["photo", "NotFound"], 1), (["feed", "--source", "StaleCursor"], 1),
            (["feed", "--account", "unsplash_bob"], 77), (["feed", "--account", "unknown"], 1),
            (["login", "nothing"], 1), (["login", "local"], 64),
            (["login", "local", "--username", "a", "--password-file", "/nonexistent"], 1),
        ] as [([String], Int32)])
    func `a failure is one line on standard error`(arguments: [String], status: Int32) async throws
    {
        try await FakeService.run { _ in
            let result = try await Control.run(arguments)
            #expect(result.exit == .code(status))
            #expect(result.output == "")
            #expect(result.error.hasPrefix("imagefeedctl: "))
            #expect(
                result.error.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
        }
    }

    @Test(arguments: [
        ["nonsense"], ["photo", ""], ["photo", "a", "b"], ["feed", "--count", "0"],
        ["feed", "--count", "x"], ["feed", "--all", "--count", "3"], ["feed", "--nonsense"],
        ["image", "7", "--size", "huge"], ["login"], ["default"], ["remove"],
        ["feed", "--combined", "--account", "local"], ["monitor", "--count", "0"],
        ["login", "local", "--no-password"],
        ["login", "local", "--register", "--no-password", "--password-file", "-"],
        ["slideshow", "nonsense"], ["slideshow", "show"], ["slideshow", "unhide"],
        ["slideshow", "set"], ["slideshow", "set", "--interval", "4s"],
        ["slideshow", "set", "--interval", "30"], ["slideshow", "set", "--source", ":all"],
        ["slideshow", "set", "--size", "huge"], ["slideshow", "watch", "--exec", ""],
        ["slideshow", "watch", "--exec", "'a"], ["slideshow", "watch", "--exec", "a", "--json"],
        ["slideshow", "--json", "next"],
    ])
    func `a usage error is one line`(arguments: [String]) async throws {
        let result = try await Control.run(arguments)
        #expect(result.exit == .code(64))
        #expect(result.output == "")
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(result.error.contains("--help"))
    }

    @Test(arguments: [
        ("--bogus", "Unknown option '--bogus'."), ("bogus", "Unexpected argument 'bogus'."),
        ("-x --json", "Unknown option '-x'."), ("", "Give at least one setting to change."),
        ("--json", "Give at least one setting to change."),
    ])
    func `a usage error of slideshow set names the wrong argument`(
        arguments: String, message: String
    ) async throws {
        let words = arguments.split(separator: " ").map(String.init)
        let result = try await Control.run(["slideshow", "set"] + words)
        let advice = "See 'imagefeedctl slideshow set --help' for more information."
        #expect(result.exit == .code(64))
        #expect(result.error == "imagefeedctl: \(message) \(advice)\n")
    }

    @Test(arguments: [
        ("--interval 4s", "The interval is 0 or at least 5 seconds."),
        ("--interval 30", "The interval is 0, or a number with s, m or h."),
        ("--interval 1193047h", "The interval is at most 1193046h."),
        ("--source :all", "The source has no account."),
    ])
    func `an invalid setting of the slideshow is refused with the reason`(
        arguments: String, reason: String
    ) async throws {
        let words = arguments.split(separator: " ").map(String.init)
        let result = try await Control.run(["slideshow", "set"] + words)
        #expect(result.exit == .code(64))
        #expect(result.error.contains("'\(words[1])' is invalid for '\(words[0]) <"))
        #expect(result.error.contains(">': \(reason) See "))
    }

    @Test(arguments: [
        [], ["--help"], ["feed", "--help"], ["help", "photo"], ["slideshow", "watch", "--help"],
        ["--version"],
    ])
    func `requested help is printed to standard output`(arguments: [String]) async throws {
        let result = try await Control.run(arguments)
        #expect(result.exit == .code(0))
        #expect(!result.output.isEmpty)
        #expect(result.error == "")
    }

    nonisolated private static let everyCommand = [
        ["status"], ["providers"], ["accounts"], ["default", "a"], ["feed"], ["sources"],
        ["photo", "7"], ["image", "7"], ["open", "7"], ["download", "7"], ["share", "7"],
        ["refresh"], ["logout"], ["remove", "a"], ["login", "local", "--username", "a"],
        ["like", "7"], ["unlike", "7"], ["toggle", "7"], ["likes"], ["profile"],
        ["configure", "unsplash", "--client-id", "a"], ["feed", "--combined"], ["like"],
        ["slideshow"], ["slideshow", "next"], ["slideshow", "pause"], ["slideshow", "show", "7"],
        ["slideshow", "hide"], ["slideshow", "unhide", "7"], ["slideshow", "watch"],
        ["slideshow", "set", "--source", "combined"],
    ]

    @Test(arguments: everyCommand + [["monitor"]])
    func `every command is unavailable without a bus`(arguments: [String]) async throws {
        let environment = try TemporaryDirectory().environment
        let result = try await ChildProcess(Control.path, arguments, environment: environment)
            .result()
        #expect(result.exit == .code(69))
        #expect(result.output == "")
        #expect(result.error.contains("session bus"))
        #expect(result.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: everyCommand)
    func `every command is unavailable without a daemon`(arguments: [String]) async throws {
        let result = try await Control.run(arguments)
        #expect(result.exit == .code(69))
        #expect(result.output == "")
        #expect(result.error.contains("Install Image Feed"))
        #expect(result.error.split(separator: "\n").count == 1)
    }

    @Test func `a command is unavailable if the daemon does not start`() async throws {
        try PrivateBus.current.addService(ServiceName.bus, command: "/bin/false")
        let result = try await Control.run(["status"])
        #expect(result.exit == .code(69))
        #expect(result.error.contains("imagefeedd"))
    }
}
