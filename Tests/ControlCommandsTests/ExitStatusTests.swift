import Contract
import DBus
import TestSupport
import Testing

@MainActor @Suite(.privateBus, .timeLimit(.minutes(10))) struct ExitStatusTests {
    @Test(
        .fakeService,
        arguments: [
            ("photo NeedsLogin", 77), ("photo NotConfigured", 78), ("photo Offline", 75),
            ("photo RateLimited", 75), ("photo SecretStoreLocked", 75), ("photo NotFound", 1),
            ("feed --source StaleCursor", 1), ("like NotFound", 1), ("like NeedsLogin", 77),
            ("like SecretStoreLocked", 75), ("feed --account unsplash_bob", 77),
            ("feed --account unknown", 1), ("feed --account ", 64), ("remove  --yes", 64),
            ("login nothing", 1), ("login local --register", 64),
            ("login local --username a --password-file /nonexistent", 1),
        ] as [(String, Int32)])
    func `a failure is a line of standard error`(line: String, status: Int32) async throws {
        try await Control.expectFailure(line.words, status: status)
    }

    @Test(arguments: [
        "nonsense", "photo ", "photo a b", "feed --count 0", "feed --count x",
        "feed --all --count 3", "feed --nonsense", "image 7 --size huge", "login", "default",
        "remove", "feed --combined --account local", "monitor --count 0",
        "login local --no-password", "login local --register --no-password --password-file -",
        "slideshow nonsense", "slideshow show", "slideshow unhide", "slideshow set --size huge",
        "slideshow watch --exec ", "slideshow watch --exec 'a", "slideshow watch --exec a --json",
        "slideshow watch --format {titel}", "feed --format a --json", "photo 7 --format a --json",
        "feed --format a --grid",
    ])
    func `a usage error is one line`(line: String) async throws {
        try await Control.expectFailure(line.words, status: 64, "--help")
    }

    @Test(arguments: [
        ("feed --count -1", "--count must be 1 or more."),
        ("likes --count -1", "--count must be 1 or more."),
        ("monitor --count -1", "--count must be 1 or more."),
        ("bogus", noCommand("imagefeedctl")), ("bogus --json", noCommand("imagefeedctl")),
        ("slideshow bogus --json", noCommand("imagefeedctl slideshow")),
        ("help provider bogus", noCommand("imagefeedctl provider")),
        ("slideshow set --bogus", wrongSetting("Unknown option '--bogus'.")),
        ("slideshow set bogus", wrongSetting("Unexpected argument 'bogus'.")),
        ("slideshow set -x --json", wrongSetting("Unknown option '-x'.")),
        ("slideshow set", wrongSetting("Give at least one setting to change.")),
        ("slideshow set --json", wrongSetting("Give at least one setting to change.")),
    ])
    func `a usage error names the argument and help`(line: String, message: String) async throws {
        try await Control.expectFailure(line.words, status: 64, message)
    }

    nonisolated private static func noCommand(_ parent: String) -> String {
        "There is no command \"bogus\". “\(parent) --help” lists the commands."
    }

    nonisolated private static func wrongSetting(_ message: String) -> String {
        "imagefeedctl: \(message) See 'imagefeedctl slideshow set --help' for more information.\n"
    }

    @Test(arguments: [
        ("--interval 4s", "The interval is 0 or at least 5 seconds."),
        ("--interval 30", "The interval is 0, or a number with s, m or h."),
        ("--interval 1193047h", "The interval is at most 1193046h."),
        ("--source :all", "The source has no account."),
    ])
    func `an invalid setting is refused with a reason`(line: String, reason: String) async throws {
        let words = ["slideshow", "set"] + line.words
        try await Control.expectFailure(words, status: 64, "--help")
        let error = try await Control.run(words).error
        #expect(error.contains("'\(words[3])' is invalid for '\(words[2]) <"))
        #expect(error.contains(">': \(reason) See "))
    }

    @Test(arguments: [
        [], ["--help"], ["feed", "--help"], ["help", "photo"], ["slideshow", "watch", "--help"],
        ["--version"],
    ])
    func `requested help is printed to standard output`(arguments: [String]) async throws {
        let result = try await Control.expectSuccess(arguments)
        #expect(!result.output.isEmpty)
        #expect(result.error == "")
    }

    @Test(arguments: Control.commands + [["monitor"]])
    func `every command is unavailable without a bus`(arguments: [String]) async throws {
        let environment = try TemporaryDirectory().environment
        let result = try await ChildProcess(Control.path, arguments, environment: environment)
            .result(status: 69)
        #expect(result.output == "")
        #expect(result.error.contains("session bus"))
        #expect(result.error.split(separator: "\n").count == 1)
    }

    @Test(arguments: Control.commands)
    func `every command is unavailable without a daemon`(arguments: [String]) async throws {
        try await Control.expectFailure(arguments, status: 69, "Install Image Feed")
    }

    @Test func `a command is unavailable if the daemon does not start`() async throws {
        try PrivateBus.current.addService(ServiceName.bus, command: "/bin/false")
        try await Control.expectFailure(["status"], status: 69, "imagefeedd")
    }

    @Test(
        .fakeService,
        arguments: [
            (
                "failed", "",
                "The folder /p does not exist; create it, or set Directory= in imagefeed.conf.",
                "", 1 as Int32
            ),
            (
                "needs-login", "login", "The service refused the token.",
                " Log in with “imagefeedctl login local --account local_ada”.", 77
            ),
            ("offline", "", "The service cannot be reached.", "", 75),
            (
                "locked", "unlock", "The keyring is locked; unlock it.", "", 75
            ),
            (
                "failed", "configure", "ShowSensitive has to be true or false.",
                " Correct imagefeed.conf; see imagefeed.conf(5).", 78
            ),
            ("loading", "", "The pictures folder is being read.", "", 0),
        ])
    func `an empty feed states the problem of its account, the remedy and an exit status`(
        state: String, remedy: String, reason: String, advice: String, status: Int32
    ) async throws {
        service.account.page = []
        (service.account.state, service.account.stateReason) = (state, reason)
        service.account.remedy = remedy
        // A command replaces the remedy of the daemon.
        if remedy == "login" { service.account.stateReason = "\(reason.dropLast()); log in again." }
        for command in [["feed"], ["likes"], ["feed", "--json"]] {
            let result = try await Control.run(command, status: status)
            if status != 0 || command.count == 1 {
                #expect(result.error.hasSuffix("There are no photos. \(reason)\(advice)\n"))
            }
            #expect(result.output.isEmpty == (command.count == 1))
        }
    }

    @Test(.fakeService) func `an empty feed without a problem is no failure`() async throws {
        service.account.page = []
        let result = try await Control.run(["feed"])
        #expect(result.exit == .code(0) && result.error == "There are no photos.\n")
    }

    @Test(.fakeService) func `an empty feed and the status tell what is left out`() async throws {
        service.account.page = []
        service.account.notices = ["2 images of photos.lan are omitted."]
        let noticed = try await Control.expectSuccess(["feed"])
        #expect(noticed.error == "There are no photos. 2 images of photos.lan are omitted.\n")
        #expect(try await Control.run(["status"]).output.contains("\t2 images of photos.lan"))
    }

    @Test(.fakeService)
    func `the combined feed names the accounts that it leaves out and the reasons`() async throws {
        service.account.notices = ["The source “memories” could not be read: It is so."]
        service.combined.incomplete = [ServiceName.accounts.appending("local_ada")]
        let line = "local_ada is left out. The source “memories” could not be read: It is so.\n"
        let some = try await Control.run(["feed", "--combined", "--count", "2"])
        #expect(some.exit == .code(0) && some.error == line)
        service.combined.page = []
        let none = try await Control.run(["feed", "--combined", "--source", "memories"], status: 1)
        #expect(none.error.hasSuffix("There are no photos. \(line)"))
    }

    @Test(
        .fakeService,
        arguments: [
            "feed", "likes", "image NeedsLogin", "like NeedsLogin", "download NeedsLogin",
            "photo NeedsLogin", "share NeedsLogin", "open NeedsLogin",
        ])
    func `the hint after an expired login names the account`(line: String) async throws {
        service.account.pageError = .needsLogin
        service.account.imageError = .needsLogin
        let result = try await Control.run(line.words, status: 77)
        #expect(
            result.error.hasSuffix("Log in with “imagefeedctl login local --account local_ada”.\n"))
    }
}
