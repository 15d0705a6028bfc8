internal import Configuration
internal import Glibc
internal import HTTP
internal import Logging
internal import PluginProtocol
internal import Plugins
internal import ProviderKit

/// The test of one plugin: of its manifest, its program, and its calls for an account.
final class ProviderTest {
    let trial: PluginTrial
    let log: PluginLog
    private let options: Options
    private let settings: ProviderSettings
    private let limits: PluginLimits
    /// The exit status if no check failed. Not 0 if the test was inconclusive for a reason outside of the plugin.
    private var otherStatus: Int32 = 0
    private var slowest: (call: String, time: Duration)?
    private var hasEnded = false

    /// Tests a plugin, and prints the result.
    ///
    /// - Returns: The exit status.
    static func run(_ options: Options) async -> Int32 {
        let path = options.manifest
        let id = String((path.split(separator: "/").last ?? "").prefix { $0 != "." })
        var variables: [String: String] = [:]
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"] {
            variables[name] = getenv(name).flatMap { String(validatingCString: $0) }
        }
        let configuration = Configuration(
            paths: UserFolders(environment: variables).configurationFiles)
        var settings = ProviderSettings(
            configuration.group("Provider \(id)").merging(options.settings) { $1 })
        // Only the daemon uses the client ID.
        settings["ClientId"] = nil
        var limits = PluginLimits()
        if let limit = options.timeLimit { limits.answering = limit }
        let allowsNone = configuration.bool("Plugins", "AllowUnsandboxed") == true
        let log = PluginLog()
        var problems: [PluginTrial.Problem] = []
        let trial = PluginTrial(
            path, settings, limits,
            confinements: options.sandbox.map { [$0] }
                ?? SandboxKind.allCases.filter { allowsNone || $0 != .none }, &problems
        ) { log.record($0) }
        var check = Check("Manifest", .manifest)
        for problem in problems {
            let hasLine = problem.text.hasPrefix("Line ")
            check.fail((problem.line.map { hasLine ? "" : "Line \($0): " } ?? "") + problem.text)
        }
        Report.write([
            "type": "plugin", "manifest": .string(path), "id": .string(id),
            "name": JSONValue(trial?.provider.info.name),
        ])
        Report.show(check)
        var status = EXIT_FAILURE
        if let trial {
            let test = ProviderTest(options, trial, log, settings, limits)
            await test.run()
            status = Report.hasFailure ? EXIT_FAILURE : test.otherStatus
        }
        Report.write(["type": "end", "status": .integer(Int64(status))])
        return status
    }

    private init(
        _ options: Options, _ trial: PluginTrial, _ log: PluginLog, _ settings: ProviderSettings,
        _ limits: PluginLimits
    ) {
        self.options = options
        self.trial = trial
        self.log = log
        self.settings = settings
        self.limits = limits
    }

    private func run() async {
        guard await checkStart() else { return await log.waitForEnd() }
        do {
            try await checkAccount()
        } catch {
            var check = Check("Account", .calls)
            check.fail("\(error)")
            Report.show(check)
        }
        if !hasEnded { await checkEnd() }
        showBehaviour()
        await end()
    }

    // MARK: Start and end

    /// Checks the start of the plugin and its sandbox.
    ///
    /// - Returns: False if the plugin does not run.
    private func checkStart() async -> Bool {
        var start = Check("initialize", .calls)
        let begin = ContinuousClock.now
        do {
            try await trial.start()
            start.note = (ContinuousClock.now - begin).seconds
        } catch {
            if let failure = log.failures.last { start.section = failure.section }
            start.fail(log.failures.last?.sentence ?? "\(error)")
            for line in log.errorLines.suffix(5) { start.fail("Standard error: \(line)") }
        }
        // The sandbox is shown after the start, because one that does not work is replaced during the start.
        var sandbox = Check("Sandbox", .sandbox)
        sandbox.note = trial.provider.condition.sandbox
        if sandbox.note.isEmpty {
            sandbox.skip(
                options.sandbox.map {
                    "The sandbox \($0.rawValue) is not available on this computer."
                }
                    ?? "No sandbox is available on this computer; install bubblewrap.")
            otherStatus = EX_UNAVAILABLE
        } else if sandbox.note == SandboxKind.none.rawValue {
            sandbox.warn("The configuration allows plugins without a sandbox.")
        }
        Report.show(sandbox)
        guard sandbox.result != .skipped else { return false }
        Report.show(start)
        return start.result == .passed
    }

    /// Checks that the plugin ends when its standard input is closed.
    func checkEnd() async {
        hasEnded = true
        var check = Check("End", .limits)
        do {
            try await trial.start()
            let time = await end()
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

    /// Ends the process of the plugin; the next call starts another one.
    @discardableResult func end() async -> Duration {
        let start = ContinuousClock.now
        // A plugin that cannot be started has ended.
        try? await trial.end()
        await log.waitForEnd()
        return ContinuousClock.now - start
    }

    // MARK: Account

    /// Tests the calls for the account that the options describe.
    ///
    /// - Throws: ``ProviderError`` if the options do not match the login of the plugin.
    private func checkAccount() async throws {
        let info = trial.provider.info
        let (takesKey, takesServer) = (
            info.authentication != .none, info.capabilities.contains(.server)
        )
        guard takesKey || !options.hasKey else {
            throw ProviderError.invalidArgument("\(info.name) uses no key; omit --password-file.")
        }
        let isNamed =
            takesKey ? options.hasKey : !options.username.isEmpty || !options.server.isEmpty
        guard isNamed else {
            try await checkDiscovery()
            return Report.skip(
                "Calls for an account", .calls,
                "No account was named, so its calls were not tested; pass \(advice).")
        }
        guard takesServer != options.server.isEmpty else {
            throw ProviderError.invalidArgument(
                takesServer
                    ? "\(info.name) requires a server; name it with --server."
                    : "\(info.name) uses no server; omit --server.")
        }
        let key = takesKey ? options.readKey() : nil
        guard !takesKey || key != nil else {
            throw ProviderError.invalidArgument("The key is empty or contains spaces.")
        }
        let login = trial.provider.loginMethod
        let server =
            switch login {
            case .federated(let login): try login.server(options.server, settings)
            case .polling(let login): try login.server(options.server, settings)
            default: options.server.lowercased()
            }
        let bearer = { (origins: [String]) in
            KeyDescription(keyField: HTTPRequest.bearerField, keyOrigins: origins)
        }
        let access =
            switch login {
            case .key(let login): try login.access(settings, server: server)
            case .polling(let login): try login.access(settings, server: server)
            case .oauth(let login): bearer(try login.oauth(settings).tokenOrigins)
            case .federated(let login): bearer(try login.oauth(server, settings).tokenOrigins)
            case .none, .password: KeyDescription(keyField: nil, keyOrigins: [])
            }
        let account = AccountIdentity(username: options.username, server: server)
        await AccountTest(self, account, ports(key, access))?.run()
    }

    private func ports(_ key: Secret?, _ access: KeyDescription) -> SessionPorts {
        SessionPorts(
            http: KeyClient(CurlClient(userAgent: options.userAgent) {}, key, access),
            settings: settings, logger: Logger(label: "plugin") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Checks the description of the login at a server, if the options name one.
    private func checkDiscovery() async throws {
        guard !options.server.isEmpty else { return }
        let ports = ports(nil, KeyDescription(keyField: nil, keyOrigins: []))
        switch trial.provider.loginMethod {
        case .federated(let login):
            let server = try login.server(options.server, settings)
            await check("discover") { _ = try await login.discover(server, user: nil, ports) }
        case .polling(let login):
            let server = try login.server(options.server, settings)
            await check("describeLogin") { _ = try await login.describeLogin(server, ports) }
        default: break
        }
    }

    private func check(_ name: String, _ call: @MainActor () async throws -> Void) async {
        var check = Check(name, .calls)
        await attempt(name, &check, call)
        Report.show(check)
    }

    private var advice: String {
        let takesServer = trial.provider.info.capabilities.contains(.server)
        return switch trial.provider.loginMethod {
        case .key where trial.provider.info.authentication == .none:
            takesServer ? "--server HOST" : "--username NAME"
        case .oauth: "--password-file FILE with an access token"
        case .federated: "--server HOST and --password-file FILE with an access token"
        case .polling:
            "--server HOST and --password-file FILE with “user name:password” in Base64"
        default: (takesServer ? "--server HOST and " : "") + "--password-file FILE with a key"
        }
    }

    // MARK: Calls

    /// The reason why a call has no result.
    enum Problem: Error {
        case refused(ProviderError)
        /// The result is not valid.
        case invalid(String)
        /// An HTTP request failed for the given reason, and the plugin refused the call.
        case unavailable(String)
        /// The service could not be used.
        case service(any Error)
        /// The plugin failed.
        case failed(PluginLog.Failure)
    }

    /// Performs a call.
    func result<Value: Sendable>(
        _ name: String, _ call: @MainActor () async throws -> Value
    ) async -> Result<Value, Problem> {
        log.beginCall()
        let failures = log.failures.count
        let start = ContinuousClock.now
        do {
            let value = try await call()
            let time = ContinuousClock.now - start
            if time > slowest?.time ?? .zero { slowest = (name, time) }
            return .success(value)
        } catch {
            if log.failures.count > failures, let failure = log.failures.last {
                return .failure(.failed(failure))
            }
            if let reason = log.invalidResult { return .failure(.invalid(reason)) }
            if let problem = log.serviceProblem {
                switch error {
                case ProviderError.failed, HTTPError.failed: return .failure(.unavailable(problem))
                default: break
                }
            }
            return .failure((error as? ProviderError).map(Problem.refused) ?? .service(error))
        }
    }

    /// Performs a call that is expected to succeed.
    ///
    /// - Returns: Its result; nil if it failed, which the check contains.
    @discardableResult func attempt<Value: Sendable>(
        _ name: String, _ check: inout Check, _ call: @MainActor () async throws -> Value
    ) async -> Value? {
        switch await result(name, call) {
        case .success(let value): return value
        case .failure(let problem):
            explain(problem, &check)
            return nil
        }
    }

    /// Adds the error of a call that was expected to succeed to a check.
    func explain(_ problem: Problem, _ check: inout Check) {
        switch problem {
        case .refused(.rateLimited): skip("The service limits requests; try again later.", &check)
        case .refused(.unauthorized):
            otherStatus = EX_NOPERM
            check.skip("The service does not accept the key.")
        case .refused(.notSupported(let text)):
            check.fail("The plugin does not support the call: \(text)")
        case .refused(let error): check.fail("The plugin refused the call: \(error)")
        case .invalid(let reason):
            if reason.hasPrefix("page.photos[") { check.section = .photos }
            check.fail("\(reason).")
        case .service(HTTPError.unreachable(let reason)):
            skip("The service cannot be reached: \(reason).", &check)
        case .unavailable(let problem): skip("The service cannot be used now: \(problem).", &check)
        case .service(let error): check.fail("\(error)")
        case .failed(let failure):
            check.section = failure.section
            check.fail(failure.sentence)
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

        var calls = Check("System calls", .sandbox)
        for name in log.deniedCalls {
            calls.warn("The system call \(name) is denied: it fails with EPERM.")
        }
        Report.show(calls)

        var time = Check("Time of calls", .limits)
        if let slowest {
            time.note = "\(slowest.call) \(slowest.time.seconds)"
            if slowest.time > limits.answering * 2 / 3 {
                time.warn(
                    "\(slowest.call) took \(slowest.time.seconds); the limit is \(limits.answering.seconds)."
                )
            }
        }
        Report.show(time)

        var sizes = Check("Messages", .limits)
        sizes.note = "\(log.messageCount.counted("message")), at most \(log.longestMessage.bytes)"
        if log.longestMessage > limits.lineBytes / 2 {
            sizes.warn(
                "A message has \(log.longestMessage.bytes); the limit is \(limits.lineBytes.bytes)."
            )
        }
        Report.show(sizes)

        guard let first = log.errorLines.first else { return }
        var errors = Check("Standard error", .limits)
        errors.note =
            "\(log.errorLines.count.counted("line")), beginning with: \(first.prefix(500))"
        // The last lines of a program usually name the cause of its failure.
        if !log.failures.isEmpty {
            for line in log.errorLines.suffix(5) {
                errors.warn("Standard error: \(line.prefix(500))")
            }
        }
        Report.show(errors)
    }
}
