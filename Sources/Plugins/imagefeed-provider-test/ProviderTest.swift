internal import Configuration
internal import Glibc
internal import HTTP
internal import JSONFormat
internal import Logging
internal import OAuth
internal import PluginHosting
internal import PluginProtocol
internal import ProviderKit

/// The test of one plugin: of its manifest, its program, and its calls for an account.
final class ProviderTest {
    let provider: Plugin
    let log: PluginLog
    private let options: Options
    private let settings: ProviderSettings
    private let limits: PluginLimits
    /// The exit status if no check failed. Not 0 if the test was inconclusive for a reason outside of the plugin.
    private var otherStatus: Int32 = 0
    private var slowest: (call: String, time: Duration)?

    /// Tests a plugin, and prints the result.
    ///
    /// - Returns: The exit status.
    static func run(_ options: Options) async -> Int32 {
        var problems: [(text: String, line: Int?)] = []
        let test = ProviderTest(options, &problems)
        Report.write([
            "manifest": .string(options.manifest), "id": .string(options.id),
            "name": JSON(test?.provider.info.name),
        ])
        await Report.check("Manifest", .manifest) { check in
            for problem in problems {
                let hasLine = problem.line == nil || problem.text.hasPrefix("Line ")
                check.fail((hasLine ? "" : "Line \(problem.line ?? 0): ") + problem.text)
            }
        }
        await test?.run()
        let status = test == nil || Report.hasFailure ? EXIT_FAILURE : test?.otherStatus ?? 0
        Report.write(["status": .integer(Int64(status))])
        return status
    }

    /// Reads the configuration and the manifest. The initializer fails if the manifest is not valid.
    private init?(_ options: Options, _ problems: inout [(text: String, line: Int?)]) {
        let folders = (try? UserFolders.ofThisProcess()) ?? UserFolders(environment: [:])
        let configuration = Configuration(paths: folders.configurationFiles)
        let allowsNone = configuration.bool("Plugins", "AllowUnsandboxed") == true
        let kinds = SandboxKind.allCases.filter { allowsNone || $0 != .none }
        var settings = ProviderSettings(
            configuration.group("Provider \(options.id)").merging(options.settings) { $1 })
        // Only the daemon uses the client ID.
        settings["ClientId"] = nil
        var limits = PluginLimits()
        limits.answering = options.timeLimit ?? limits.answering
        let log = PluginLog(isVerbose: options.isVerbose)
        let provider = Plugin(
            options.manifest, settings, limits,
            confinements: options.sandbox.map { [$0] } ?? kinds, &problems
        ) { log.record($0) }
        guard let provider else { return nil }
        (self.provider, self.log) = (provider, log)
        (self.options, self.settings, self.limits) = (options, settings, limits)
    }

    private func run() async {
        guard await checkStart() else { return await log.waitForEnd() }
        var accountTest: AccountTest?
        do {
            accountTest = try await makeAccountTest()
        } catch {
            await Report.check("Account", .calls) { $0.fail("\(error)") }
        }
        await accountTest?.run()
        await checkEnd()
        await accountTest?.checkRestart()
        await showBehaviour()
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
            try await provider.startProcess()
            start.note = (ContinuousClock.now - begin).seconds
        } catch {
            let failure = log.failures.last
            start.section = failure?.section ?? start.section
            start.fail(failure?.sentence ?? "\(error)")
            for line in log.errorLines.suffix(5) { start.fail("Standard error: \(line)") }
        }
        // The sandbox is shown after the start, because one that does not work is replaced during the start.
        let sandbox = await Report.check("Sandbox", .sandbox) { check in
            check.note = provider.condition.sandbox
            if check.note.isEmpty {
                check.skip(
                    options.sandbox.map {
                        "The sandbox \($0.rawValue) is not available on this computer."
                    }
                        ?? "No sandbox is available on this computer; install bubblewrap.")
                otherStatus = EX_UNAVAILABLE
            } else if check.note == SandboxKind.none.rawValue {
                check.warn("The configuration allows plugins without a sandbox.")
            }
        }
        guard sandbox.result != .skipped else { return false }
        Report.show(start)
        return start.result == .passed
    }

    /// Checks that the plugin ends when its standard input is closed.
    private func checkEnd() async {
        await Report.check("End", .limits) { check in
            guard
                await attempt("initialize", &check, { try await provider.startProcess() }) != nil
            else { return }
            let start = ContinuousClock.now
            await end()
            let time = ContinuousClock.now - start
            check.note = time.seconds
            if time >= limits.gracePeriod {
                check.fail(
                    "The plugin did not end within \(limits.gracePeriod.seconds) after its standard input was closed, and was killed."
                )
            }
        }
    }

    /// Ends the process of the plugin; the next call starts another one.
    func end() async {
        // A plugin that cannot be started has ended.
        try? await provider.endProcess()
        await log.waitForEnd()
    }

    // MARK: Account

    /// Starts the account that the options describe.
    ///
    /// - Returns: The test of its calls; nil if the options describe none.
    /// - Throws: ``ProviderError`` if the options do not match the login of the plugin.
    private func makeAccountTest() async throws -> AccountTest? {
        let info = provider.info
        let takesKey = info.authentication != .none
        let takesServer = info.capabilities.contains(.server)
        guard takesKey || !options.hasKey else {
            throw ProviderError.invalidArgument("\(info.name) uses no key; omit --password-file.")
        }
        // The plugin describes a browser login at a server that the user names.
        let isDescribed = takesServer && info.authentication == .oauth2
        let server =
            isDescribed && !options.server.isEmpty
            ? try provider.server(options.server, settings) : options.server.lowercased()
        guard
            takesKey ? options.hasKey : !options.username.isEmpty || !options.server.isEmpty
        else {
            if isDescribed, !server.isEmpty { await checkDescription(server) }
            await Report.check("Calls for an account", .calls) {
                $0.skip("No account was named, so its calls were not tested; pass \(advice).")
            }
            return nil
        }
        guard takesServer != server.isEmpty else {
            throw ProviderError.invalidArgument(
                takesServer
                    ? "\(info.name) requires a server; name it with --server."
                    : "\(info.name) uses no server; omit --server.")
        }
        let key = takesKey ? options.readKey() : nil
        guard !takesKey || key != nil else {
            throw ProviderError.invalidArgument("The key is empty or contains spaces.")
        }
        let http = CurlClient(userAgent: options.userAgent) {}
        let token = OAuthToken.key(key ?? Secret(""), now: .now)
        let client = AuthorizedClient(
            http, token, try provider.loginMethod.access(settings, server: server))
        let account = AccountIdentity(username: options.username, server: server)
        return AccountTest(self, account, ports(client))
    }

    private func ports(_ http: any HTTPClient) -> SessionPorts {
        SessionPorts(
            http: http, settings: settings,
            logger: Logger(label: "plugin") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Checks the description of the login at a server.
    private func checkDescription(_ server: String) async {
        let http = CurlClient(userAgent: options.userAgent) {}
        let isFederated = provider.loginMethod.isFederated
        await Report.check(isFederated ? "discover" : "describeLogin", .calls) { check in
            await attempt(check.name, &check) {
                if isFederated {
                    _ = try await provider.discover(server, user: nil, ports(http))
                } else {
                    let access = try provider.access(settings, server: server).anonymous
                    let client = AuthorizedClient(http, OAuthToken.none(now: .now), access)
                    _ = try await provider.describeLogin(server, ports(client))
                }
            }
        }
    }

    /// The options that describe an account.
    private var advice: String {
        let server = provider.info.capabilities.contains(.server) ? "--server HOST" : ""
        let secret =
            switch provider.loginMethod {
            case .oauth, .federated: "--password-file FILE with an access token"
            case .polling: "--password-file FILE with “user name:password” in Base64"
            default: "--password-file FILE with a key"
            }
        guard provider.info.authentication != .none else {
            return server.isEmpty ? "--username NAME" : server
        }
        return server.isEmpty ? secret : "\(server) and \(secret)"
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
        case failed(PluginFailure)
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
        case .service(let error): check.fail(sentence(error))
        case .failed(let failure):
            check.section = failure.section
            check.fail(failure.sentence)
        }
    }

    /// Returns an error of a request as a sentence.
    func sentence(_ error: any Error) -> String {
        error is HTTPError ? "\(error)" : PluginRefusal(error).message
    }

    private func skip(_ reason: String, _ check: inout Check) {
        if otherStatus == 0 { otherStatus = EX_TEMPFAIL }
        check.skip(reason)
    }

    // MARK: Behaviour

    /// Reports the checks that concern all calls together.
    private func showBehaviour() async {
        if let failure = log.lateFailure {
            await Report.check("Between calls", failure.section) { $0.fail(failure.sentence) }
        }
        await Report.check("Requests on the web", .requests) { check in
            check.note = log.requestCount.counted("request")
            for text in log.refusals { check.fail("The daemon refused a request: \(text)") }
            for method in log.unknownNotifications.sorted() {
                check.warn("The notification “\(method)” is unknown and has no effect.")
            }
        }
        await Report.check("Limits", .limits) { check in
            let (call, time) = slowest ?? ("", .zero)
            let (longest, limit) = (log.longestMessage, limits.lineBytes)
            check.note =
                "\(call) \(time.seconds); \(log.messageCount.counted("message")), at most \(longest.bytes)"
            if time > limits.answering * 2 / 3 {
                check.warn("\(call) took \(time.seconds) of \(limits.answering.seconds).")
            }
            if longest > limit / 2 {
                check.warn("A message has \(longest.bytes); the limit is \(limit.bytes).")
            }
        }
        guard let first = log.errorLines.first else { return }
        await Report.check("Standard error", .limits) { check in
            check.note =
                "\(log.errorLines.count.counted("line")), beginning with: \(first.prefix(500))"
            // The last lines of a program usually name the cause of its failure.
            for line in log.failures.isEmpty ? [] : log.errorLines.suffix(5) {
                check.warn("Standard error: \(line.prefix(500))")
            }
        }
    }
}
