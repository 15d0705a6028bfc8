internal import Logging
internal import PluginProtocol
internal import ProviderKit
internal import Quoting
internal import Synchronization
internal import System

/// A plugin. It is started by the first call, ended when it is idle, started again after a failure, and disabled after
/// too many failures.
final class Plugin: PluginConnection.Owner {
    nonisolated let manifest: Manifest
    private let settings: ProviderSettings
    /// Tells apart what was shown with other settings: anything may depend on them.
    nonisolated let cacheVariant: String
    private let world: PluginContext
    private let logger: Logger
    private var connection: PluginConnection?
    private var starting: Task<PluginConnection, any Error>?
    private var health: PluginHealth
    private var stamp: FileStamps
    private nonisolated let lastAccount = Atomic<Int>(0)
    private var isRetired = false
    private var unnamedSources: Set<String> = []
    /// Told when it is disabled, or enabled again.
    var onChange: (() -> Void)?

    init(_ manifest: Manifest, _ settings: ProviderSettings, _ world: PluginContext) {
        self.manifest = manifest
        self.settings = settings
        cacheVariant = Self.cacheVariant(settings)
        self.world = world
        var logger = world.logger
        logger[metadataKey: "plugin"] = "\(manifest.info.id)"
        self.logger = logger
        health = PluginHealth(world.limits)
        stamp = manifest.stamp
    }

    private nonisolated static func cacheVariant(_ settings: ProviderSettings) -> String {
        let others = ["AllowLoopback", "Enabled", "LoopbackServers", "RedirectPort"]
        let own = settings.all.filter { !others.contains($0.key) }
        guard !own.isEmpty else { return "" }
        var hash = StableHash()
        for (key, value) in own.sorted(by: { $0.key < $1.key }) {
            hash.combine("\(key)=\(value)\n".utf8)
        }
        return hash.value.hexDigits
    }

    /// True if the user allows the locations of the plugin's photos. A change of the setting replaces the plugin.
    nonisolated var showsLocation: Bool { settings["ShowLocation"] == "true" }

    /// The reason for which the plugin is disabled; nil if it is not.
    var disablement: String? {
        guard confinement != nil else { return Self.unconfined }
        guard health.isDisabled else { return nil }
        return
            "The plugin failed \(health.failures) times in a row, and is left alone until it changes: \(health.lastReason)."
    }

    /// The receivers of the plugin's events.
    var trace: PluginTrace { world.traces[manifest.info.id] }

    /// The sandbox; nil if there is none and the plugin must not run.
    var confinement: SandboxKind? { world.confiner.level }

    /// Its process; nil while it has none.
    var processID: Int32? { connection?.processID }

    /// Makes a name for an account that begins a session.
    nonisolated func makeAccountID() -> String {
        "\(lastAccount.add(1, ordering: .relaxed).newValue)"
    }

    // MARK: Calls

    /// Asks it something, and has it started if need be.
    ///
    /// - Throws: What ``PluginRefusal/error(of:)`` gives; ``ProviderError/failed(_:)``.
    func call<Value: Sendable>(
        _ method: PluginMethod, _ parameters: [String: JSONValue], _ account: PluginAccount,
        _ read: @escaping @Sendable (PluginReader) throws(PluginFault) -> Value
    ) async throws -> Value {
        var parameters = parameters
        parameters["account"] = account.json
        var connection = try await running()
        // One that has just been told to end has not failed.
        if connection.isOver { connection = try await running() }
        let answer: PluginConnection.Answer
        do {
            answer = try await connection.call(
                method, .object(parameters), account, limit: world.limits.answering)
        } catch let refusal as PluginRefusal {
            if refusal.kind == nil {
                connection.log(.warning, "\(method.rawValue) failed: \(refusal.message)")
            }
            noteAnswer(of: connection)
            throw refusal.error(of: manifest.info.name)
        }
        noteAnswer(of: connection)
        let (value, time) = await MessageWork.run(bytes: answer.bytes) {
            () -> Result<Value, PluginFault> in
            do throws(PluginFault) {
                return .success(try read(PluginReader(answer.result, method.rawValue)))
            } catch {
                return .failure(error)
            }
        }
        connection.recordProcessorTime(time)
        switch value {
        case .success(let value): return value
        case .failure(let error):
            logger.warning("A plugin answers nonsense", metadata: ["reason": "\(error)"])
            throw ProviderError.failed(
                "The plugin of \(manifest.info.name) did not do its part: its answer makes no sense."
            )
        }
    }

    /// One that has lived for a while is well again: those that fail do so earlier.
    private func noteAnswer(of connection: PluginConnection) {
        if connection.age > .seconds(10) { health.noteSuccess() }
    }

    /// Returns its process, and starts one if there is none.
    func running() async throws -> PluginConnection {
        if let connection, !connection.isOver { return connection }
        if let starting { return try await starting.value }
        try checkReadiness()
        let task = Task { try await start() }
        starting = task
        defer { starting = nil }
        return try await task.value
    }

    private func checkReadiness() throws {
        let name = manifest.info.name
        guard !isRetired else {
            throw ProviderError.failed("The plugin of \(name) is not there any more.")
        }
        if health.isDisabled, stamp.haveChanged { encourage() }
        if let disablement { throw ProviderError.failed(disablement) }
        guard confinement != nil else { throw ProviderError.failed(Self.unconfined) }
        guard health.mayStart(now: .now) else {
            throw ProviderError.failed(
                "The plugin of \(name) has failed, and is left alone for a moment: \(health.lastReason)."
            )
        }
    }

    /// Lets it try again, though it failed too often: it has changed, or the user wants it to.
    func encourage() {
        guard health.isDisabled else { return }
        stamp = FileStamps(stamp)
        health = PluginHealth(world.limits)
        onChange?()
    }

    private func start() async throws -> PluginConnection {
        // One process at a time: one that is slow to end has had its chance.
        connection?.kill()
        while let level = confinement {
            let new = try spawn(level)
            connection = new
            do {
                try await greet(new)
                world.confiner.recordSuccess(level)
                return new
            } catch {
                switch new.sandboxStart {
                case nil: throw error
                case .succeeded:
                    world.confiner.recordSuccess(level)
                    throw error
                case .shortage(let line): throw shortage(line)
                case .failed(let line): try await replace(level, line)
                }
            }
        }
        throw ProviderError.failed(Self.unconfined)
    }

    /// Replaces a level that failed to start the plugin, if it does not start any program.
    ///
    /// - Throws: ``ProviderError/failed(_:)`` if the level stays.
    private func replace(_ level: SandboxKind, _ reason: String) async throws {
        switch await world.confiner.attempt(level, logger) {
        case .failed where world.confiner.giveUp(level):
            health = PluginHealth(world.limits)
            onChange?()
        case .inconclusive: throw shortage(reason)
        case .failed, .succeeded:
            noteFailure("it cannot be started: \(reason)")
            throw ProviderError.failed(
                "The plugin of \(manifest.info.name) cannot be started: \(reason).")
        }
    }

    /// Makes the error for a start that is worth another try: the plugin has not failed.
    private func shortage(_ reason: String) -> ProviderError {
        logger.warning(
            "There are too few resources to start a plugin", metadata: ["reason": "\(reason)"])
        return ProviderError.failed(
            "The plugin of \(manifest.info.name) cannot be started at present: \(reason).")
    }

    private static let unconfined =
        "Nothing here keeps plugins from your files: install bubblewrap, or see AllowUnsandboxed in imagefeed.conf(5)."

    private func spawn(_ level: SandboxKind) throws -> PluginConnection {
        do {
            let (new, report) = try world.confiner.start(manifest, world.limits, level) { launch in
                try PluginConnection(
                    launch, name: manifest.info.name, world.limits, world.turns, logger,
                    trace: trace,
                    owner: self)
            }
            new.report = report
            logger.debug("A plugin was started", metadata: ["process": "\(new.processID ?? 0)"])
            return new
        } catch {
            guard !Shortage.isReason(for: error) else { throw shortage("\(error)") }
            noteFailure("it cannot be started: \(error)")
            throw ProviderError.failed(
                "The plugin of \(manifest.info.name) cannot be started: \(error).")
        }
    }

    /// Says which protocol is spoken.
    private func greet(_ new: PluginConnection) async throws {
        let version = JSONValue.integer(Int64(PluginMessage.version))
        let values = settings.all.mapValues { JSONValue.string($0) }
        let answer: PluginConnection.Answer
        do {
            answer = try await new.call(
                .initialize,
                [
                    "protocol": version, "provider": .string(manifest.info.id),
                    "settings": .object(values),
                ], nil, limit: world.limits.starting)
        } catch let refusal as PluginRefusal {
            new.fail("it does not begin: \(refusal.message)")
            throw refusal.error(of: manifest.info.name)
        }
        guard answer.result["protocol"] == version else {
            new.fail("it does not speak version \(PluginMessage.version) of the protocol")
            throw ProviderError.failed(
                "The plugin of \(manifest.info.name) speaks another version of the protocol.")
        }
    }

    /// Ends it for good: its manifest is gone, or another one is there.
    func retire() {
        isRetired = true
        connection?.end()
    }

    /// Logs the sources that are left out because the manifest does not name them, each once.
    ///
    /// - Parameter sources: Sources that the plugin reported.
    func reportUnnamedSources(_ sources: [SourceID]) {
        // A plugin that reports ever other ones is not logged for ever.
        guard unnamedSources.count < 64 else { return }
        let new = Set(sources.prefix(64).map(\.text.excerpt)).subtracting(unnamedSources)
        guard !new.isEmpty else { return }
        unnamedSources.formUnion(new)
        logger.warning(
            "Sources of a plugin that Sources in its manifest does not name are left out",
            metadata: ["sources": "\(new.sorted().prefix(10).joined(separator: ", "))"])
    }

    // MARK: PluginConnection.Owner

    func failed(_ connection: PluginConnection, _ reason: String) {
        switch connection.sandboxStart {
        case .succeeded, nil: noteFailure(reason)
        // The plugin was not started; `start()` decides.
        case .failed, .shortage: break
        }
    }

    func rested(_ connection: PluginConnection) {
        health.noteSuccess()
        logger.debug("A plugin was idle, and is ended")
    }

    private func noteFailure(_ reason: String) {
        let wasDisabled = health.isDisabled
        health.noteFailure(reason, now: .now)
        guard health.isDisabled, !wasDisabled else { return }
        stamp = FileStamps(stamp)
        logger.error("A plugin is left alone", metadata: ["reason": "\(reason)"])
        onChange?()
        world.onDisabled(manifest.info.id, manifest.info.name, disablement ?? reason)
    }

    // MARK: What it asks and tells

    func perform(_ message: PluginMessage, of connection: PluginConnection) {
        do throws(PluginFault) {
            switch message {
            case .call(let id, let method, let parameters):
                try answer(id, method, PluginReader(parameters, method), connection)
            case .notification(let method, let parameters):
                try note(method, PluginReader(parameters, method), connection)
            case .answer, .refusal: break
            }
        } catch {
            connection.fail("it does not speak the protocol: \(error)")
        }
    }

    private func answer(
        _ id: JSONValue, _ method: String, _ parameters: PluginReader,
        _ connection: PluginConnection
    ) throws(PluginFault) {
        guard DaemonMethod(rawValue: method) == .http else {
            return connection.refuse(
                id,
                PluginRefusal(
                    nil, "There is no method “\(method.excerpt)”.",
                    code: PluginRefusal.Code.methodNotFound))
        }
        guard let account = connection.account(try parameters.requiredText("account")) else {
            connection.log(.warning, "a request for an account that it is not asked about")
            return connection.refuse(
                id, PluginRefusal(.denied, "Nothing was asked for that account."))
        }
        let request: HTTPRequest
        do {
            request = try account.confine(
                HTTPRequest(parameters), timeLimit: connection.timeLeft(for: account))
        } catch let fault as PluginFault {
            throw fault
        } catch {
            connection.log(.warning, "a request was refused: \(error)")
            return connection.refuse(id, PluginRefusal(error))
        }
        connection.perform(id) {
            do {
                let response = try await account.ports.http.send(request)
                if let secret = response.sentSecret { connection.trace.hide(secret) }
                return response
            } catch HTTPError.forbiddenAddress(let reason) {
                connection.log(.warning, "a request was refused: \(reason)")
                throw HTTPError.forbiddenAddress(reason)
            }
        }
    }

    private func note(
        _ method: String, _ parameters: PluginReader, _ connection: PluginConnection
    ) throws(PluginFault) {
        switch DaemonMethod(rawValue: method) {
        case .log:
            let level = try parameters.text("level").flatMap(Logger.Level.init(rawValue:))
            connection.log(level ?? .info, try parameters.requiredText("message"))
        case .status:
            let id = try parameters.requiredText("account")
            let status = try SessionStatus(parameters)
            connection.notifications(about: id)?.status.send(status)
        case .rateLimit:
            let id = try parameters.requiredText("account")
            let limit = try RateLimit(parameters)
            connection.notifications(about: id)?.rateLimit.send(limit)
        // What a later version may tell.
        case .http, nil: break
        }
    }
}
