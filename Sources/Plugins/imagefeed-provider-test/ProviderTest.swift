internal import Configuration
internal import Glibc
internal import HTTP
internal import Logging
internal import PluginProtocol
internal import Plugins
internal import ProviderKit

/// The test of one plugin: of its manifest, its program, and its calls for an account.
final class ProviderTest {
    let options: Options
    let tried: PluginTrial.TriedManifest
    let settings: ProviderSettings
    let limits: PluginLimits
    let log = PluginLog()
    /// The events of the second trial.
    let secondLog = PluginLog()
    let trial: PluginTrial
    private let confinements: [SandboxKind]
    private let web: any HTTPClient
    /// The exit status if no check failed. Not 0 if the test was inconclusive for a reason outside of the plugin.
    private var otherStatus: Int32 = 0
    private var slowest: (method: PluginMethod, time: Duration)?

    /// Tests a plugin, and prints the result.
    ///
    /// - Returns: The exit status.
    static func run(_ options: Options) async -> Int32 {
        let path = options.manifest
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let id = String(name.prefix { $0 != "." })
        let configuration = Configuration(
            paths: UserFolders(environment: environment()).configurationFiles)
        var settings = ProviderSettings(
            configuration.group("Provider \(id)").merging(options.settings) { $1 })
        // Only the daemon uses the client ID.
        settings["ClientId"] = nil
        let (manifest, problems) = PluginTrial.read(path, settings)
        var check = Check("Manifest", .manifest)
        for problem in problems {
            let hasLine = problem.text.hasPrefix("Line ")
            check.fail((problem.line.map { hasLine ? "" : "Line \($0): " } ?? "") + problem.text)
        }
        Report.write([
            "type": "plugin", "manifest": .string(path), "id": .string(id),
            "name": JSONValue(manifest?.name),
        ])
        Report.show(check)
        let status: Int32
        if let manifest {
            let allowsNone = configuration.bool("Plugins", "AllowUnsandboxed") == true
            let test = ProviderTest(
                options, manifest, settings,
                options.sandbox.map { [$0] }
                    ?? (allowsNone ? SandboxKind.allCases : [.bubblewrap, .landlock]))
            status = await test.run()
        } else {
            status = EXIT_FAILURE
        }
        Report.write(["type": "end", "status": .integer(Int64(status))])
        return status
    }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"] {
            variables[name] = getenv(name).flatMap { String(validatingCString: $0) }
        }
        return variables
    }

    private init(
        _ options: Options, _ tried: PluginTrial.TriedManifest, _ settings: ProviderSettings,
        _ confinements: [SandboxKind]
    ) {
        self.options = options
        self.tried = tried
        self.settings = settings
        self.confinements = confinements
        var limits = PluginLimits()
        if let limit = options.timeLimit { limits.answering = limit }
        self.limits = limits
        web = CurlClient(userAgent: options.userAgent) {}
        trial = PluginTrial(tried, settings, limits, confinements: confinements) { [log] in
            log.record($0)
        }
    }

    private func run() async -> Int32 {
        guard await checkStart() else {
            trial.end()
            await log.waitForEnd()
            return status
        }
        do {
            if let account = try makeAccount(trial) {
                await AccountTest(self, account).run()
            } else if [.federated, .polling].contains(tried.login), !options.server.isEmpty {
                await checkDiscovery()
                skipAccount()
            } else {
                skipAccount()
            }
        } catch {
            var check = Check("Account", .calls)
            check.fail("\(error)")
            Report.show(check)
        }
        showBehaviour()
        await checkEnd()
        return status
    }

    /// The exit status, as in imagefeedctl(1).
    private var status: Int32 { Report.hasFailure ? EXIT_FAILURE : otherStatus }

    // MARK: Start

    /// Checks the start of the plugin.
    ///
    /// - Returns: False if the plugin does not run.
    private func checkStart() async -> Bool {
        var check = Check("initialize", .calls)
        let start = ContinuousClock.now
        do {
            try await trial.start()
            check.note = (ContinuousClock.now - start).seconds
        } catch {
            if let failure = log.failures.last {
                check = Check("initialize", failure.section)
                check.fail(failure.sentence)
            } else {
                check.fail("\(error)")
            }
            for line in log.errorLines.suffix(5) { check.fail("Standard error: \(line)") }
        }
        // The sandbox is checked after the start, because one that does not work is replaced during the start.
        guard checkSandbox() else { return false }
        Report.show(check)
        return check.result == .passed
    }

    /// Checks the sandbox of the plugin.
    ///
    /// - Returns: False if there is no sandbox.
    private func checkSandbox() -> Bool {
        var check = Check("Sandbox", .confinement)
        switch trial.sandbox {
        case .bubblewrap?, .landlock?: check.note = trial.sandbox?.rawValue ?? ""
        case SandboxKind.none?: check.warn("The configuration allows plugins without a sandbox.")
        case nil:
            check.skip(
                options.sandbox.map {
                    "The sandbox \($0.rawValue) is not available on this computer."
                }
                    ?? "No sandbox is available on this computer; install bubblewrap.")
            otherStatus = EX_UNAVAILABLE
        }
        Report.show(check)
        return trial.sandbox != nil
    }

    // MARK: Account

    /// Makes the account that the options describe.
    ///
    /// - Returns: The account; nil if the options describe none.
    /// - Throws: ``ProviderError`` if the options do not match the login of the plugin.
    func makeAccount(_ trial: PluginTrial) throws -> PluginTrial.Account? {
        let takesKey = tried.login != .open
        guard takesKey || !options.hasKey else {
            throw ProviderError.invalidArgument(
                "\(tried.name) uses no key; omit --password-file.")
        }
        guard !takesKey || options.hasKey else { return nil }
        guard takesKey || !options.username.isEmpty || !options.server.isEmpty else { return nil }
        guard tried.needsServer != options.server.isEmpty else {
            throw ProviderError.invalidArgument(
                tried.needsServer
                    ? "\(tried.name) requires a server; name it with --server."
                    : "\(tried.name) uses no server; omit --server.")
        }
        let key = takesKey ? self.key : nil
        guard !takesKey || key != nil else {
            throw ProviderError.invalidArgument("The key is empty or contains spaces.")
        }
        let server = options.server.isEmpty ? "" : try trial.serverName(options.server)
        return trial.makeAccount(
            AccountIdentity(username: options.username, server: server),
            try ports(trial, key, server))
    }

    private lazy var key = options.readKey()

    private func ports(
        _ trial: PluginTrial, _ key: Secret?, _ server: String
    ) throws -> SessionPorts {
        SessionPorts(
            http: KeyClient(web, key, try trial.access(server: server)), settings: settings,
            logger: Logger(label: "plugin") { _ in SwiftLogNoOpLogHandler() })
    }

    private func checkDiscovery() async {
        var check = Check(tried.login == .polling ? "describeLogin" : "discover", .calls)
        do {
            let server = try trial.serverName(options.server)
            try await trial.discover(server, try ports(trial, nil, server))
        } catch {
            explain(error, &check, failures: 0)
        }
        Report.show(check)
    }

    private func skipAccount() {
        let advice =
            switch tried.login {
            case .open: tried.needsServer ? "--server HOST" : "--username NAME"
            case .key:
                (tried.needsServer ? "--server HOST and " : "") + "--password-file FILE with a key"
            case .oauth2: "--password-file FILE with an access token"
            case .federated: "--server HOST and --password-file FILE with an access token"
            case .polling:
                "--server HOST and --password-file FILE with “user name:password” in Base64"
            }
        Report.show(
            Check(
                skipping: "Calls for an account", .calls,
                "No account was named, so its calls were not tested; pass \(advice)."))
    }

    // MARK: Calls

    /// The result of a call.
    enum Outcome {
        case value(JSONValue)
        case refused(ProviderError)
        /// An HTTP request failed for the given reason, and the plugin refused the call.
        case unavailable(String)
        /// The service could not be used.
        case service(any Error)
        /// The plugin failed.
        case failed(PluginLog.Failure)
    }

    /// Calls a method of the plugin.
    func call(
        _ method: PluginMethod, _ parameters: [String: JSONValue], _ account: PluginTrial.Account,
        of trial: PluginTrial? = nil
    ) async -> Outcome {
        let log = trial == nil ? log : secondLog
        log.forgetServiceProblem()
        let failures = log.failures.count
        let start = ContinuousClock.now
        do {
            let value = try await (trial ?? self.trial).call(method, parameters, account)
            let time = ContinuousClock.now - start
            if time > slowest?.time ?? .zero { slowest = (method, time) }
            return .value(value)
        } catch {
            if log.failures.count > failures, let failure = log.failures.last {
                return .failed(failure)
            }
            if let problem = log.serviceProblem {
                switch error {
                case ProviderError.failed, HTTPError.failed: return .unavailable(problem)
                default: break
                }
            }
            guard let error = error as? ProviderError else { return .service(error) }
            return .refused(error)
        }
    }

    /// Adds the error of a call that was expected to succeed to a check.
    func explain(_ outcome: Outcome, _ check: inout Check) {
        switch outcome {
        case .value: break
        case .refused(.rateLimited): skip("The service limits requests; try again later.", &check)
        case .refused(.unauthorized):
            otherStatus = EX_NOPERM
            check.skip("The service does not accept the key.")
        case .refused(.notSupported(let text)):
            check.fail("The plugin does not support the call: \(text)")
        case .refused(let error): check.fail("The plugin refused the call: \(error)")
        case .service(HTTPError.unreachable(let reason)):
            skip("The service cannot be reached: \(reason).", &check)
        case .unavailable(let problem): skip("The service cannot be used now: \(problem).", &check)
        case .service(let error): check.fail("\(error)")
        case .failed(let failure):
            check = Check(check.name, failure.section)
            check.fail(failure.sentence)
        }
    }

    private func explain(_ error: any Error, _ check: inout Check, failures: Int) {
        if log.failures.count > failures, let failure = log.failures.last {
            explain(.failed(failure), &check)
        } else if let error = error as? ProviderError {
            explain(.refused(error), &check)
        } else {
            explain(.service(error), &check)
        }
    }

    private func skip(_ reason: String, _ check: inout Check) {
        if otherStatus == 0 { otherStatus = EX_TEMPFAIL }
        check.skip(reason)
    }

    // MARK: Behaviour

    /// Reports the checks that concern all calls together.
    private func showBehaviour() {
        var requests = Check("Requests on the web", .requests)
        requests.note = log.requestCount.counted("request")
        for text in log.refusals { requests.fail("The daemon refused a request: \(text)") }
        for method in log.unknownNotifications.sorted() {
            requests.warn("The notification “\(method)” is unknown and has no effect.")
        }
        Report.show(requests)

        var calls = Check("System calls", .confinement)
        for name in log.deniedCalls {
            calls.warn("The system call \(name) is denied: it fails with EPERM.")
        }
        Report.show(calls)

        var time = Check("Time of calls", .limits)
        if let slowest {
            time.note = "\(slowest.method.rawValue) \(slowest.time.seconds)"
            if slowest.time > limits.answering * 2 / 3 {
                time.warn(
                    "\(slowest.method.rawValue) took \(slowest.time.seconds); the limit is \(limits.answering.seconds)."
                )
            }
        }
        Report.show(time)

        var sizes = Check("Messages", .limits)
        sizes.note =
            "\(log.messageCount.counted("message")), at most \(log.longestMessage.bytes)"
        if log.longestMessage > limits.lineBytes / 2 {
            sizes.warn(
                "A message has \(log.longestMessage.bytes); the limit is \(limits.lineBytes.bytes)."
            )
        }
        Report.show(sizes)

        let lines = log.errorLines + secondLog.errorLines
        guard let first = lines.first else { return }
        var errors = Check("Standard error", .limits)
        errors.note = "\(lines.count.counted("line")), beginning with: \(first.prefix(500))"
        // The last lines of a program usually name the cause of its failure.
        if !log.failures.isEmpty {
            for line in lines.suffix(5) { errors.warn("Standard error: \(line.prefix(500))") }
        }
        Report.show(errors)
    }

    /// Checks that the plugin ends when its standard input is closed.
    private func checkEnd() async {
        var check = Check("End", .limits)
        do {
            try await trial.start()
            let start = ContinuousClock.now
            trial.end()
            await log.waitForEnd()
            let time = ContinuousClock.now - start
            check.note = time.seconds
            if time >= limits.gracePeriod {
                check.fail(
                    "The plugin did not end within \(limits.gracePeriod.seconds) after its standard input was closed, and was killed."
                )
            }
        } catch {
            check.fail("\(error)")
        }
        Report.show(check)
    }

    /// Creates a second trial of the plugin, for rules about restarts.
    func makeSecondTrial() -> PluginTrial {
        PluginTrial(tried, settings, limits, confinements: confinements) { [secondLog] in
            secondLog.record($0)
        }
    }
}
