internal import JSONFormat
internal import Logging
internal import PluginProtocol
internal import ProviderKit
internal import Quoting
internal import Sandbox
internal import Synchronization
internal import System
internal import Translation

/// A plugin, which is a provider. It is started by the first call, ended when it is idle, started again after a failure,
/// and disabled after too many failures.
@MainActor
package final class Plugin: InstalledProvider, KeyLogin, OAuthLogin, FederatedLogin, PollingLogin {
    nonisolated let manifest: Manifest
    private let settings: ProviderSettings
    /// The hash of the settings, each of which may affect the pages of the plugin; empty if there are none.
    nonisolated let cacheVariant: String
    private let launcher: SandboxLauncher
    /// Receives the events of the plugin; nil in the daemon.
    let observer: PluginObserver?
    private let logger: Logger
    private var connection: PluginConnection?
    private var starting: Task<PluginConnection, any Error>?
    private var health: PluginHealth
    private var stamp: FileStamps
    private nonisolated let lastAccount = Atomic<Int>(0)
    private var isRetired = false
    private var unnamedSources: Set<String> = []
    /// Receives the changes of the condition; set once, and nil in tests of a plugin.
    weak var host: PluginHost?

    init(
        _ manifest: Manifest, _ settings: ProviderSettings, _ launcher: SandboxLauncher,
        _ observer: PluginObserver? = nil
    ) {
        self.observer = observer
        self.manifest = manifest
        self.settings = settings
        cacheVariant = Self.cacheVariant(settings)
        self.launcher = launcher
        var logger = launcher.logger
        logger[metadataKey: "plugin"] = "\(manifest.info.id)"
        self.logger = logger
        health = PluginHealth(launcher.limits)
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

    /// Returns a photo without its location, unless the user allows it. A change of the setting replaces the plugin.
    nonisolated func shown(_ photo: RemotePhoto) -> RemotePhoto {
        var photo = photo
        if settings["ShowLocation"] != "true" {
            (photo.photo.latitude, photo.photo.longitude) = (nil, nil)
        }
        return photo
    }

    /// The reason for which the plugin is disabled; nil if it is enabled.
    var disablement: Message? {
        guard confinement != nil else { return Self.noSandbox }
        guard health.isDisabled else { return nil }
        return Message(
            "The plugin is disabled until its files change, because it failed {count} times in a row: {reason}.",
            ["count": "\(health.failures)", "reason": health.lastReason])
    }

    /// The sandbox; nil if there is none and the plugin must not run.
    var confinement: SandboxKind? { launcher.level }

    /// Returns a new ID for an account.
    nonisolated func makeAccountID() -> String {
        "\(lastAccount.add(1, ordering: .relaxed).newValue)"
    }

    // MARK: Calls

    /// Calls a method of the plugin, and starts the plugin if it does not run.
    ///
    /// - Throws: An error of ``PluginRefusal/error(of:)``; ``ProviderError/failed(_:)``.
    func call<Value: Sendable>(
        _ method: PluginMethod, _ parameters: [String: JSON], _ account: PluginAccount,
        _ read: @escaping @Sendable (PluginReader) throws(PluginFault) -> Value
    ) async throws -> Value {
        var parameters = parameters
        parameters["account"] = account.json
        var connection = try await running()
        let delay = connection.work.delay
        if delay > .zero { try await MainLoopClock().sleep(for: delay) }
        // A plugin that was idle may have been ended during the delay, which is not a failure.
        if connection.isOver { connection = try await running() }
        let answer: PluginConnection.Answer
        do {
            answer = try await connection.call(
                method, .object(parameters), account, limit: launcher.limits.answering)
        } catch let refusal as PluginRefusal {
            switch refusal.kind {
            case nil: connection.log(.warning, "\(method.rawValue) failed: \(refusal.message)")
            case .failed, .invalidResponse:
                connection.log(.notice, "\(method.rawValue) failed: \(refusal.message)")
            default: break
            }
            recordAnswer(of: connection)
            throw refusal.error(of: manifest.info.name)
        }
        recordAnswer(of: connection)
        let value = await connection.work.run(bytes: answer.bytes) {
            Result { () throws(PluginFault) in
                try read(PluginReader(answer.result, method.rawValue))
            }
        }
        connection.work.discard(answer.result, bytes: answer.bytes)
        switch value {
        case .success(let value): return value
        case .failure(let error):
            logger.warning("A plugin sent an invalid result", metadata: ["reason": "\(error)"])
            let reason = ServiceText.message("\(error)") ?? "the reason is unknown"
            observer?(.invalidResult(reason: reason))
            throw invalidResult(reason)
        }
    }

    private func invalidResult(_ reason: String) -> ProviderError {
        .failed(
            Message(
                "The plugin of {provider} failed: it sent an invalid result: {reason}.",
                ["provider": name, "reason": reason]))
    }

    /// Resets the failures if the plugin has run for more than ten seconds: a failing plugin usually fails earlier.
    private func recordAnswer(of connection: PluginConnection) {
        if connection.age > .seconds(10) { health.recordSuccess() }
    }

    /// Returns the running plugin, and starts it if it does not run.
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
        guard !isRetired else {
            throw ProviderError.failed(
                Message(
                    "The plugin of {provider} was removed or replaced; try again.",
                    ["provider": name]))
        }
        if health.isDisabled, stamp.haveChanged { enable() }
        if let disablement { throw ProviderError.failed(disablement) }
        if let pause = health.pause(now: .now) {
            throw ProviderError.failed(
                Message(
                    "The plugin of {provider} failed and is not started again for {time}: {reason}.",
                    messages: [
                        "provider": Message(verbatim: name),
                        "time": Duration.seconds(pause.components.seconds + 1).secondsMessage(),
                        "reason": Message(verbatim: health.lastReason),
                    ]))
        }
    }

    /// Enables the plugin after too many failures, because its files changed or the user retries.
    func enable() {
        guard health.isDisabled else { return }
        stamp = FileStamps(stamp)
        health = PluginHealth(launcher.limits)
        host?.conditionChanged(self)
    }

    private func start() async throws -> PluginConnection {
        // Only one process may run: a previous process that has not ended yet is killed.
        connection?.kill()
        while let level = confinement {
            let new = try spawn(level)
            connection = new
            guard await place(new) else { continue }
            do {
                try await initialize(new)
                launcher.recordSuccess(level)
                return new
            } catch {
                guard let line = new.startFailure else { throw error }
                let isShortage = SpawnError.isShortage(line)
                guard !isShortage, launcher.giveUp(level) else {
                    throw startError(line, isShortage: isShortage)
                }
                health = PluginHealth(launcher.limits)
                host?.conditionChanged(self)
            }
        }
        throw ProviderError.failed(Self.noSandbox)
    }

    /// Places the process in a control group, which counts all of its memory, and starts its program.
    ///
    /// - Returns: False if there is no such group. The process was killed, and the next one has limits of its own.
    private func place(_ new: PluginConnection) async -> Bool {
        guard new.isWaiting else { return true }
        let bytes = launcher.limits.groupBytes
        var reason = "the group does not limit memory"
        do {
            // bwrap takes a task, and another one while it starts.
            try await launcher.place?(
                new.processID, manifest.info.id, bytes, launcher.limits.threads + 2)
        } catch {
            reason = "\(error)"
        }
        if new.isOver { return true }
        guard UnitLimits.memoryLimit(of: new.processID) == bytes else {
            logger.notice(
                "Plugins have no control groups of their own", metadata: ["reason": "\(reason)"])
            launcher.place = nil
            new.kill()
            return false
        }
        new.start()
        return true
    }

    /// Logs that the plugin cannot be started, and returns the error of the call. After a shortage, the start can be
    /// retried; it does not count as a failure of the plugin.
    private func startError(_ reason: String, isShortage: Bool) -> ProviderError {
        let values: KeyValuePairs = ["provider": name, "reason": reason]
        guard isShortage else {
            recordFailure("it cannot be started: \(reason)")
            return .failed(Message("The plugin of {provider} cannot be started: {reason}.", values))
        }
        logger.warning(
            "There are too few resources to start a plugin", metadata: ["reason": "\(reason)"])
        return .failed(
            Message("The plugin of {provider} cannot be started at present: {reason}.", values))
    }

    private var name: String { manifest.info.name }

    private static let noSandbox = Message(
        "No sandbox is available for plugins; install bubblewrap, or see AllowUnsandboxed in imagefeed.conf(5)."
    )

    private func spawn(_ level: SandboxKind) throws -> PluginConnection {
        do {
            let new = try PluginConnection(
                launcher.launch(manifest, level), self, launcher.limits, logger)
            logger.debug("A plugin was started", metadata: ["process": "\(new.processID)"])
            return new
        } catch {
            throw startError("\(error)", isShortage: SpawnError.isShortage(error))
        }
    }

    /// Calls `initialize`, and checks the version of the protocol.
    private func initialize(_ new: PluginConnection) async throws {
        let version = Int64(PluginMessage.version)
        let values = settings.all.mapValues { JSON.string($0) }
        let answer: PluginConnection.Answer
        do {
            answer = try await new.call(
                .initialize,
                [
                    "protocol": .integer(version), "provider": .string(manifest.info.id),
                    "settings": .object(values),
                ], nil, limit: launcher.limits.starting)
        } catch let refusal as PluginRefusal {
            new.fail("it refused the call initialize: \(refusal.reason)")
            throw refusal.error(of: manifest.info.name)
        }
        let reader = PluginReader(answer.result, PluginMethod.initialize.rawValue)
        let supported: Int64
        do {
            supported = try reader.required("protocol", reader.integer)
        } catch {
            new.fail("it sent an invalid result: \(error)")
            throw invalidResult("\(error)")
        }
        guard supported == version else {
            new.fail("it does not support version \(PluginMessage.version) of the protocol")
            throw ProviderError.failed(
                Message(
                    "The plugin of {provider} does not support version {version} of the protocol; install a matching version of it.",
                    ["provider": name, "version": "\(PluginMessage.version)"]))
        }
    }

    /// Ends the plugin permanently, because its manifest was removed or replaced.
    func retire() {
        isRetired = true
        connection?.end()
    }

    /// Logs the sources that are omitted because they match no entry of the manifest, each once.
    ///
    /// - Parameter sources: Sources that the plugin reported.
    func reportUnnamedSources(_ sources: [SourceID]) {
        // The limit applies to a plugin that reports other sources each time.
        guard unnamedSources.count < 64 else { return }
        let new = Set(sources.prefix(64).map(\.text.excerpt)).subtracting(unnamedSources)
        guard !new.isEmpty else { return }
        unnamedSources.formUnion(new)
        logger.warning(
            "Sources of a plugin that match no entry of Sources in its manifest are omitted",
            metadata: ["sources": "\(new.sorted().prefix(10).joined(separator: ", "))"])
    }

    // MARK: Events of the connection

    /// Called when the plugin was killed because of a failure, or ended without a request of the daemon.
    func failed(_ connection: PluginConnection, _ reason: String) {
        // Otherwise, the plugin was not started, and `start()` decides.
        if connection.startFailure == nil { recordFailure(reason) }
    }

    /// Called when the daemon ends the plugin because it is idle.
    func endedIdle() {
        health.recordSuccess()
        logger.debug("An idle plugin is ended")
    }

    private func recordFailure(_ reason: String) {
        let wasDisabled = health.isDisabled
        health.recordFailure(reason, now: .now)
        guard health.isDisabled, !wasDisabled else { return }
        stamp = FileStamps(stamp)
        logger.error(
            "A plugin is disabled until its files change", metadata: ["reason": "\(reason)"])
        host?.conditionChanged(self)
        host?.onDisabled?(manifest.info.id, name, disablement ?? Message(verbatim: reason))
    }
}
