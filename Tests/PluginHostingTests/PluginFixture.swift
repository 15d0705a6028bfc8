import FoundationEssentials
import Glibc
import Logging
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// A plugin in Python with the script of a test, in a folder of its own and with its own log.
@MainActor
final class PluginFixture {
    let directory: TemporaryDirectory
    let http: any HTTPClient
    let log = Observed<[String]>()
    let disablements = Observed<[String]>()
    let host: PluginHost
    private(set) var session: any RemoteFeed
    private(set) var provider: any InstalledProvider
    /// The number of versions of the plugin that replaced another one.
    let replacements = Observed(0)

    /// Wide limits, without a pause after a failure, and with a short time for the end of the plugin.
    static var quick: PluginLimits {
        var limits = PluginLimits.wide
        limits.firstPause = .zero
        limits.gracePeriod = .milliseconds(200)
        return limits
    }

    /// - Parameters:
    ///   - script: The Python code that handles a request for a page, with `request`, `account`,
    ///     `answer(result)`, `show(title)` and `ask(method, params)`.
    ///   - opening: The Python code that runs first.
    ///   - command: The command of the manifest.
    ///   - program: The whole program in place of `script` and `opening`; nil for these.
    ///   - authentication: The group `Authentication` of the manifest.
    ///   - limits: The limits of the plugin.
    ///   - level: The sandbox.
    ///   - fallbacks: The sandboxes that may replace it.
    ///   - programs: The programs that start the plugin.
    ///   - place: Places the process of the plugin in a control group.
    ///   - hosts: The hosts of the manifest.
    ///   - capabilities: The capabilities of the manifest.
    ///   - settings: The settings of the user.
    ///   - http: The HTTP client.
    ///   - directory: The folder of the plugin; nil for a new one.
    /// - Throws: An error of the file system or of the manifest.
    init(
        _ script: String = "pass", opening: String = "",
        command: String = "/usr/bin/python3 ./odd/odd.py", program: String? = nil,
        authentication: String = "Type=none",
        limits: PluginLimits = PluginFixture.quick,
        level: SandboxKind = .bubblewrap, fallbacks: [SandboxKind] = [],
        programs: SandboxPrograms = .installed, place: PluginPlacement? = nil,
        hosts: String = "example.org;",
        capabilities: String = "feed;",
        settings: [String: String] = [:],
        http: any HTTPClient = ScriptedHTTP(), directory: TemporaryDirectory? = nil
    ) throws {
        // Like the daemon: a plugin may have ended when a message is written to it.
        signal(SIGPIPE, SIG_IGN)
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        self.http = http
        let folder = "home/.local/share/imagefeed/providers"
        try directory.write(
            Self.manifest(command, hosts, capabilities) + authentication,
            to: "\(folder)/odd.provider")
        try directory.write(program ?? Self.program(script, opening), to: "\(folder)/odd/odd.py")
        let logger = Logger(label: "test") { [log] _ in ListLogHandler(lines: log) }
        host = PluginHost(
            folders: [directory.appending(folder)], reserved: [], limits: limits,
            confinements: [level] + fallbacks, programs: programs, place: place, logger: logger
        ) { _ in
            ProviderSettings(["AllowLoopback": "true"].merging(settings) { $1 })
        }
        host.onDisabled = { [disablements] _, _, reason in disablements.append("\(reason)") }
        host.start()
        provider = try #require(host.providers.first)
        try #require(provider.condition.state == .ready, "\(provider.condition.reason)")
        let newSession = { (provider: any InstalledProvider) in
            provider.makeSession(AccountIdentity(username: "ada"), .test(http, logger)).remoteFeed
        }
        session = try #require(newSession(provider))
        host.onChange = { [weak self] change in
            guard let self, let new = change.added.first else { return }
            provider = new
            session = newSession(new) ?? session
            replacements.update { $0 += 1 }
        }
    }

    isolated deinit { host.stop() }

    /// Returns Python code of a function with an account as its parameter, for the opening of a program.
    ///
    /// - Parameters:
    ///   - name: The name of the function.
    ///   - answer: Its result, as a Python expression.
    /// - Returns: The code, on one line.
    static func function(_ name: String, returning answer: String) -> String {
        "def \(name)(account): return \(answer.split(separator: "\n").joined(separator: " "))"
    }

    /// Replaces the program of the plugin, and waits until the new version is used.
    func replaceProgram(_ script: String) async throws {
        let count = replacements.value
        try directory.write(
            Self.program(script, ""), to: "home/.local/share/imagefeed/providers/odd/odd.py")
        try await replacements.wait { $0 > count ? true : nil }
    }

    /// Requests a page.
    func page() async throws -> RemotePage {
        try await session.fetchPage(SourceID("home"), from: nil)
    }

    /// Requests a page and returns the title of its only photo.
    func shown() async throws -> String? { try await page().photos.first?.photo.title }

    /// Requests a page and expects a failure of the plugin.
    func expectFailure(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        let text = await expectThrown(ProviderError.failed, sourceLocation: sourceLocation) {
            try await page()
        }
        let hasReason = text?.contains(reason) == true
        #expect(hasReason, "\(String(describing: text))", sourceLocation: sourceLocation)
    }

    /// Waits for a line of the log.
    func logged(_ text: String) async throws {
        try await log.wait { $0.contains { $0.contains(text) } ? true : nil }
    }

    /// Expects that the log has no more lines than the plugin may write in a time, and a few of the daemon.
    func expectFewLogLines(
        since start: ContinuousClock.Instant, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let windows = (ContinuousClock.now - start) / .seconds(10) + 1
        let limit = Double(PluginLimits().logLines) * windows + 50
        #expect(Double(log.value.count) < limit, sourceLocation: sourceLocation)
    }

    /// Returns the manifest up to the header of its last group.
    private static func manifest(
        _ command: String, _ hosts: String, _ capabilities: String
    ) -> String {
        """
        [Provider]
        Id=odd
        Name=Odd photos
        Exec=\(command)
        Capabilities=\(capabilities)
        DefaultSource=home
        Sources=home;likes;
        Hosts=\(hosts)

        [Authentication]

        """
    }

    private static func program(_ script: String, _ opening: String) -> String {
        let body = script.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "        \($0)" }.joined(separator: "\n")
        return """
            import json, os, signal, socket, sys, time
            \(opening)
            def write(message):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
                sys.stdout.flush()
            def answer(result): write({"id": request["id"], "result": result})
            def show(title): answer({"photos": [{"id": "1", "title": str(title)}]})
            def ask(method, params):
                write({"id": "x", "method": method, "params": params})
                return json.loads(sys.stdin.readline())
            def attempt(body):
                try: return "done: " + str(body())
                except BaseException as error: return type(error).__name__
            for line in sys.stdin:
                request = json.loads(line)
                if request["method"] == "initialize": answer({"protocol": 1})
                elif request["method"] == "discover": answer(discover(request["params"]["account"]))
                elif request["method"] == "describeLogin":
                    answer(describeLogin(request["params"]["account"]))
                elif request["method"] == "identify": answer({"username": "ada"})
                elif request["method"] in ("page", "photo"):
                    account = request["params"]["account"]["id"]
            \(body)
            """
    }
}

@MainActor extension PluginHost {
    /// Creates a host of plugins without settings.
    ///
    /// - Parameters:
    ///   - folder: The folder of the manifests.
    ///   - confinements: The kinds of sandbox.
    ///   - logger: The logger.
    convenience init(
        of folder: String, confinements: [SandboxKind] = [.none], logger: Logger = .silent
    ) {
        self.init(
            folders: [folder], reserved: ["local"], confinements: confinements, logger: logger
        ) { _ in ProviderSettings() }
    }
}

/// The settings of a user who sets nothing.
let noSettings = ProviderSettings()

extension SessionPorts {
    /// The ports of a session without settings.
    static func test(
        _ http: any HTTPClient = ScriptedHTTP(), _ logger: Logger = .silent
    ) -> SessionPorts {
        SessionPorts(http: http, settings: ProviderSettings(), logger: logger)
    }
}

extension PluginLimits {
    /// Returns the limits of ``PluginFixture/quick`` with a change.
    @MainActor static func quick(_ change: (inout PluginLimits) -> Void) -> PluginLimits {
        var limits = PluginFixture.quick
        change(&limits)
        return limits
    }

    /// Time limits that a slow machine does not exceed. A test of a limit shortens only this one.
    static var wide: PluginLimits {
        var limits = PluginLimits()
        limits.answering = .seconds(60)
        limits.starting = .seconds(60)
        limits.reading = .seconds(60)
        limits.daemonProcessorTime = .seconds(3600)
        return limits
    }
}

/// A log handler that stores each event as a line.
struct ListLogHandler: LogHandler {
    let lines: Observed<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    init(lines: Observed<[String]>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        lines.append(
            "\(event.message)" + facts.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined())
    }
}

extension Logger {
    /// A logger without output.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Returns a list in Python with the same text for each element.
func list(_ text: String, _ count: Int) -> String {
    "[\(Array(repeating: "'\(text)'", count: count).joined(separator: ", "))]"
}

/// Creates a socket with a path.
func boundSocket(_ kind: __socket_type, at path: String) throws -> Int32 {
    let bound = socket(AF_UNIX, Int32(kind.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < 108)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(bound, $0, size) }
    }
    try #require(result == 0)
    return bound
}
