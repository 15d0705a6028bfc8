internal import BusService
internal import Configuration
internal import Contract
internal import DBus
internal import DailyProvider
internal import Desktop
internal import Dispatch
internal import EngineCore
internal import Glibc
internal import HTTP
internal import ImageClient
internal import ImmichProvider
internal import LocalProvider
internal import Logging
internal import MastodonProvider
internal import NextcloudProvider
internal import PluginHosting
internal import ProviderKit
internal import Sandbox
internal import Secrets
internal import SlideshowCore
internal import Storage
internal import System
internal import Translation
internal import UnsplashProvider

/// The daemon: creates the components and connects them.
final class Daemon {
    private let logger: Logger
    private let folders: UserFolders
    private let settings: ConfiguredSettings
    private let files = FileThreads()
    /// The data that cannot be fetched again.
    private let data: Store
    /// The data that can be created again.
    private let cache: Store
    private let local: LocalProvider
    private let providers: [any Provider]
    private let connection: BusConnection
    private let browser: DesktopBrowser
    private let notifications: DesktopNotificationPresenter
    private let tree: ObjectTree
    private var isTrimming = false
    private var engine: Engine?
    private var service: BusExporter?
    private var network: NetworkWatch?
    private var http: CurlClient?
    private let plugins: PluginHost
    private var keyring: Task<[SignalSubscription]?, Never>?
    private let instance: SingleInstance
    private var ending: MainLoopTimer?

    /// The daemon of this process, after it has started.
    private static var current: Daemon?

    /// Locks the folders, requests the bus name and starts the daemon.
    ///
    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - replacing: True if a daemon on this bus is to be replaced.
    ///   - signals: The signal handlers. Their actions are set.
    ///   - logger: Receives events.
    /// - Throws: ``SingleInstance/Refusal``; `StorageError`; `BusError`.
    static func start(
        _ connection: BusConnection, replacing: Bool, signals: SignalHandlers, logger: Logger
    ) async throws {
        var folders = try UserFolders.ofThisProcess()
        let instance = SingleInstance(connection, folders, isReplacing: replacing, logger: logger)
        // The tree holds the calls that arrive after the name is owned.
        let tree = BusExporter.makeTree(connection)
        try await instance.lockData { exit(EXIT_SUCCESS) }
        let data = Store(
            "\(folders.data)/data.sqlite", .durable, Engine.formats + [LocalProvider.format],
            lock: instance.data, logger: logger
        ) {
            Task { @MainActor in Daemon.current?.engine?.storeChanged() }
        } onReplaced: {
            Task { @MainActor in Daemon.current?.endAfterReply() }
        }
        // The accounts are what the rest of the start waits for.
        data.open()
        folders.cache = try await instance.lockCache(folders.cache)
        let daemon = Daemon(connection, tree, instance, folders, data, logger: logger)
        current = daemon
        try await daemon.run(signals: signals)
    }

    private init(
        _ connection: BusConnection, _ tree: ObjectTree, _ instance: SingleInstance,
        _ folders: UserFolders, _ data: Store, logger: Logger
    ) {
        self.connection = connection
        self.tree = tree
        self.instance = instance
        self.folders = folders
        self.data = data
        self.logger = logger
        settings = ConfiguredSettings(folders)
        let configuration = settings.configuration
        cache = Store(
            "\(folders.cache)/cache.sqlite", .disposable, Engine.cacheFormats, cacheKibibytes: 64,
            logger: logger)
        local = LocalProvider(
            pictures: configuration.picturesFolder(folders), data: data,
            cache: folders.cache,
            images: ImageHelperClient(
                program: CurrentProcess.path(ofProgram: "imagefeed-image-helper"), files: files,
                logger: logger),
            files: files, logger: logger, clock: MainLoopClock(),
            settings: configuration.localSettings, version: programVersion)
        settings.onReload = { [local] in local.change($0.localSettings) }
        // The one list of providers.
        let known: [any Provider] = [
            local,
            DailyProvider { [settings] in settings.hasContact },
            ImmichProvider(),
            MastodonProvider(),
            NextcloudProvider(),
            UnsplashProvider(),
        ]
        providers = known.filter { provider in
            configuration.bool("Provider \(provider.info.id)", "Enabled") ?? true
        }
        plugins = PluginHost(
            folders: folders.providers, reserved: Set(known.map(\.info.id)),
            confinements: configuration.bool("Plugins", "AllowUnsandboxed") == true
                ? [.bubblewrap, .landlock, .none] : [.bubblewrap, .landlock],
            place: UnitLimits.hasMemoryController ? Self.placement(connection) : nil,
            logger: logger
        ) { [settings] in settings.settings(of: $0) }
        browser = DesktopBrowser(connection)
        notifications = DesktopNotificationPresenter(connection)
        notifications.isWanted = configuration.areNotificationsEnabled
        connection.onDisconnect = { [unowned self] in end("The connection to the bus was lost") }
    }

    /// Returns the function that places plugins in control groups of the service manager.
    private static func placement(_ connection: BusConnection) -> PluginPlacement {
        let manager = ServiceManager(connection)
        return { process, plugin, memoryBytes, tasks in
            try await manager.limit(
                process, name: plugin, memoryBytes: memoryBytes, tasks: tasks,
                timeout: .seconds(2))
        }
    }

    /// Reads the accounts, requests the bus name and starts the engine. Earlier calls are held.
    ///
    /// - Parameter signals: The signal handlers. Their actions are set.
    /// - Throws: `StorageError`; `BusError`; ``SingleInstance/Refusal``.
    private func run(signals: SignalHandlers) async throws {
        signals.onEnd = { [unowned self] in end("Received a signal to end") }
        signals.onReload = { [unowned self] in reload() }
        let store = AccountStore(data)
        let contents = try await store.contents()
        let slideshowStore = SlideshowStore(data: data, cache: cache)
        // Accounts that cannot be read are unknown.
        let accounts =
            data.writeError == nil
            ? Set(contents.accounts.filter(\.isLoggedIn).map(\.id)) : nil
        async let stored = slideshowStore.contents(of: accounts)
        try await instance.ownName { [unowned self] in end("Another daemon has replaced this one") }
        var slideshows = try await stored
        await slideshows.findImages(files)
        plugins.start()
        let engine = Engine(
            providers: providers + plugins.providers, store: store, contents: contents,
            slideshowStore: slideshowStore, slideshows: slideshows, cache: cache, ports: ports())
        self.engine = engine
        engine.setRefreshInterval(settings.configuration.refreshInterval)
        service = BusExporter(
            engine, tree, builtInProviders: Set(providers.map(\.info.id)),
            runtimeFolder: folders.runtime,
            findProviders: { [plugins] in await plugins.findInstalled() })
        tree.onManyCalls = { [unowned self] in trimMemory(after: .seconds(2)) }
        let network = NetworkWatch(logger: logger) { status in
            engine.isMetered = status.isMetered
            engine.setOnline(status.isOnline)
        } onResume: { [unowned self] in
            http?.replaceConnections()
            engine.resumed()
        } onNetworkChange: { [unowned self] in
            logger.debug("The network has changed")
            http?.replaceConnections()
            engine.networkChanged()
        }
        self.network = network
        // A timer does not count the time of a suspend.
        engine.slideshows.onAttach = { network.listenToSystem() }
        engine.onRemoteSession = { [unowned self] in
            watchKeyring()
            network.listenToSystem()
        }
        plugins.onChange = { [unowned self] change in
            change.removed.forEach(engine.uninstall)
            change.added.forEach(engine.install)
            change.changed.forEach(engine.providerConditionChanged)
            for provider in change.added + change.changed where provider.condition.state == .ready {
                engine.resolvePluginFailure(provider.info.id)
            }
            reportProblems()
        }
        plugins.onDisabled = { id, name, reason in
            engine.reportPluginFailure(id, name: name, reason: reason)
        }
        engine.start()
        // A call that made the bus start the daemon finds the sessions.
        tree.start()
        reportProblems()
        reportMissingLimits()
        if let accounts { await engine.deleteCache(besides: accounts) }
    }

    /// Logs the limits of the systemd unit that are not in force, if systemd started the daemon.
    private func reportMissingLimits() {
        guard ServiceManager.startedThisProcess else { return }
        let missing = UnitLimits.missing(home: folders.home)
        guard !missing.isEmpty else { return }
        logger.warning(
            "Limits of the systemd unit are not in force; imagefeedd(1) explains why",
            metadata: ["limits": "\(missing.joined(separator: ","))"])
    }

    /// Retries accounts when the keyring is unlocked. Called only if an account needs the keyring.
    private func watchKeyring() {
        guard keyring == nil else { return }
        keyring = Task {
            try? await connection.watchKeyring { [weak engine] in engine?.retryNow() }
        }
    }

    private func ports() -> EnginePorts {
        let http = CurlClient(userAgent: settings.userAgent) { [unowned self] in
            trimMemory()
            // The system bus may have started since the last attempt.
            network?.listenToSystem()
        }
        http.certificateFiles = settings.configuration.certificateFiles(folders)
        self.http = http
        var ports = EnginePorts(
            http: http, secrets: KeyringStore(), settings: settings.settings(of:),
            setClientID: { [settings] in try await settings.set($0, for: "ClientId", of: $1) },
            cacheFolder: folders.cache,
            cacheLimitBytes: settings.configuration.bytes("Daemon", "CacheLimit") ?? 512 << 20,
            logger: logger)
        ports.notificationPresenter = notifications
        ports.openURL = { [browser] in try await browser.open($0, activationToken: $1) }
        return ports
    }

    /// Releases memory after a minute without requests to a service, and when many calls have ended.
    private func trimMemory(after delay: Duration = .zero) {
        guard !isTrimming else { return }
        isTrimming = true
        Task {
            var earlierCalls = 0
            repeat {
                earlierCalls = tree.handledCalls
                try? await Task.sleep(for: delay)
                // A client may make a call now and then for ever.
            } while tree.handledCalls > earlierCalls + 10
            isTrimming = false
            service?.releaseMemory()
            await engine?.releaseMemory()
            await local.releaseMemory()
            CurrentProcess.trimMemory()
        }
    }

    // MARK: Exit

    /// Ends the process. All confirmed changes are already on the disk.
    private func end(_ reason: Logger.Message) -> Never {
        CurrentProcess.startExitDeadline()
        logger.info(reason)
        // A process that is blocked in the file system of the cache keeps its locks after its end.
        engine?.stop { instance.data.release() }
        // Before the name is released, so that the next daemon can lock the folders.
        instance.release()
        plugins.stop()
        if connection.isConnected { connection.flush() }
        connection.close()
        exit(EXIT_SUCCESS)
    }

    /// Ends the process after the reply to the call whose task found another file of the accounts. The next call starts
    /// the daemon again.
    private func endAfterReply() {
        ending = MainLoopTimer(after: .milliseconds(100)) { [unowned self] in
            end("The file of the accounts was replaced")
        }
    }

    // MARK: Configuration

    private func reload() {
        let hadContact = settings.hasContact
        settings.reload()
        http?.userAgent = settings.userAgent
        if settings.hasContact != hadContact { engine?.restartSessions(of: "daily") }
        notifications.isWanted = settings.configuration.areNotificationsEnabled
        if local.setPicturesFolder(settings.configuration.picturesFolder(folders)) {
            engine?.restartSessions(of: local.info.id)
        }
        engine?.setRefreshInterval(settings.configuration.refreshInterval)
        plugins.reload()
        // A manifest may be as new as the settings of its plugin.
        reportProblems()
        engine?.settingsChanged()
        http?.certificateFiles = settings.configuration.certificateFiles(folders)
        logger.info("The configuration was read again")
    }

    private func reportProblems() {
        let problems = settings.configuration.problems(plugins: plugins.ids)
        engine?.configurationNotices = problems.map { problem in
            logger.warning("A part of the configuration is ignored: \(problem)")
            return tr(
                "A part of the configuration is ignored: {reason}.",
                ["reason": problem.message.translated])
        }
    }
}

extension Configuration {
    fileprivate var areNotificationsEnabled: Bool { bool("Daemon", "Notifications") ?? true }

    fileprivate var refreshInterval: Duration {
        duration("Daemon", "RefreshInterval") ?? Engine.defaultRefreshInterval
    }

    fileprivate var localSettings: LocalSettings {
        LocalSettings(
            showsLocation: bool("Provider local", "ShowLocation") ?? false,
            exclusions: PathPatterns(list: string("Provider local", "Exclude") ?? ""),
            order: string("Provider local", "Order"))
    }

    /// Returns the files of trusted certificates, by host.
    fileprivate func certificateFiles(_ folders: UserFolders) -> [String: String] {
        var files: [String: String] = [:]
        for server in servers {
            guard let host = Self.host(ofServer: server),
                let path = self.path("Server \(server)", "CertificateFile")
            else { continue }
            files[host] = String(decoding: folders.absolutePath(path), as: UTF8.self)
        }
        return files
    }

    fileprivate func picturesFolder(_ folders: UserFolders) -> [UInt8] {
        path("Provider local", "Directory").map(folders.absolutePath) ?? folders.pictures
    }
}
