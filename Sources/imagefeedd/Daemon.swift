internal import BusAPI
internal import BusService
internal import Configuration
internal import DBus
internal import Desktop
internal import Dispatch
internal import Engine
internal import Glibc
internal import HTTP
internal import ImageClient
internal import LocalProvider
internal import Logging
internal import MastodonProvider
internal import Plugins
internal import ProviderKit
internal import Sandbox
internal import Secrets
internal import Storage
internal import System
internal import UnsplashProvider

/// Puts the parts together and lets them run.
final class Daemon {
    private let logger: Logger
    private let folders: UserFolders
    private let settings: ConfiguredSettings
    private let local: LocalProvider
    private let providers: [any Provider]
    private let connection: BusConnection
    private let browser: DesktopBrowser
    private let noticeBoard: DesktopNotificationPresenter
    private let tree: ObjectTree
    private var engine: Engine?
    private var service: BusService?
    private var network: NetworkWatch?
    private var http: CurlClient?
    private let plugins: PluginHost
    private var keyring: KeyringWatch?
    private var watchesKeyring = false
    private let instance: SingleInstance

    /// The daemon of this process, once it serves.
    private static var current: Daemon?

    /// Locks the folders, owns the name and serves.
    ///
    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - replacing: True if a daemon on this bus is to be replaced.
    ///   - signals: The handlers of signals, which are set.
    ///   - version: The version of the program.
    ///   - logger: Receives events.
    /// - Throws: ``SingleInstance/Refusal``; `StorageError`; `BusError`.
    static func start(
        _ connection: BusConnection, replacing: Bool, signals: SignalHandlers, version: String,
        logger: Logger
    ) async throws {
        var folders = UserFolders(environment: try environmentVariables())
        let instance = SingleInstance(connection, folders, isReplacing: replacing, logger: logger)
        // It holds the calls that arrive once the name is owned.
        let tree = BusService.makeTree(connection)
        try await instance.lockData { exit(EXIT_SUCCESS) }
        folders.cache = try await instance.lockCache(folders.cache)
        let daemon = Daemon(connection, tree, instance, folders, logger: logger)
        current = daemon
        try await daemon.run(version: version, signals: signals)
    }

    private init(
        _ connection: BusConnection, _ tree: ObjectTree, _ instance: SingleInstance,
        _ folders: UserFolders, logger: Logger
    ) {
        self.connection = connection
        self.tree = tree
        self.instance = instance
        self.folders = folders
        self.logger = logger
        settings = ConfiguredSettings(folders)
        let configuration = settings.configuration
        let files = FileThreads()
        local = LocalProvider(
            pictures: Self.picturesFolder(configuration, folders), data: folders.data,
            cache: folders.cache,
            images: ImageHelperClient(
                program: HelperProgram.path("imagefeed-image-helper"), files: files,
                logger: logger),
            files: files, logger: logger, clock: MainQueueClock(), version: programVersion)
        // The one list of providers.
        let known: [any Provider] = [local, MastodonProvider(), UnsplashProvider()]
        providers = known.filter { provider in
            configuration.bool("Provider \(provider.info.id)", "Enabled") ?? true
        }
        plugins = PluginHost(
            folders: folders.providers, reserved: Set(known.map(\.info.id)),
            confinements: configuration.bool("Plugins", "AllowUnsandboxed") == true
                ? [.bubblewrap, .landlock, .none] : [.bubblewrap, .landlock],
            logger: logger
        ) { [settings] in settings.settings(of: $0) }
        browser = DesktopBrowser(connection)
        noticeBoard = DesktopNotificationPresenter(connection)
        noticeBoard.isWanted = Self.wantsNotices(configuration)
        connection.onDisconnect = { [unowned self] in end("The bus is gone") }
    }

    /// Opens the store, owns the name and serves. Calls that arrive before that wait.
    ///
    /// - Parameters:
    ///   - version: The version of the program.
    ///   - signals: The handlers of signals, which are set.
    /// - Throws: `StorageError`; `BusError`; ``SingleInstance/Refusal``.
    private func run(version: String, signals: SignalHandlers) async throws {
        signals.onEnd = { [unowned self] in end("Told to end") }
        signals.onReload = { [unowned self] in reload() }
        let (store, contents) = try AccountStore.open(folder: folders.data, lock: instance.data)
        if let error = contents.readOnlyError {
            logger.warning("Accounts and likes cannot be changed", metadata: ["reason": "\(error)"])
        }
        try await instance.ownName { [unowned self] in end("Another daemon has taken over") }
        plugins.start()
        let engine = Engine(
            providers: providers + plugins.providers, store: store, contents: contents,
            ports: ports(version))
        self.engine = engine
        engine.setRefreshInterval(Self.refreshInterval(settings.configuration))
        service = BusService(
            engine, tree, builtInProviders: Set(providers.map(\.info.id)), version: version,
            missingLimits: { [unowned self] in missingLimits }
        ) { [browser] in
            try await browser.open($0)
        }
        // Whoever had us started is answered before any other work.
        tree.start()
        let network = NetworkWatch(logger: logger) { belief in
            engine.isMetered = belief.isMetered
            engine.setOnline(belief.isOnline)
        } onResume: { [unowned self] in
            http?.replaceConnections()
            engine.resumed()
        } onNetworkChange: { [unowned self] in
            logger.debug("The network has changed")
            http?.replaceConnections()
            engine.networkChanged()
        }
        self.network = network
        engine.onRemoteSession = { [unowned self] in
            watchKeyring()
            network.listenToSystem()
        }
        plugins.onChange = { change in
            change.removed.forEach(engine.uninstall)
            change.added.forEach(engine.install)
            change.changed.forEach(engine.noteCondition)
            for provider in change.added + change.changed where provider.condition.state == .ready {
                engine.notePluginRunning(provider.info.id)
            }
        }
        plugins.onDisabled = { id, name, reason in
            engine.notePluginFailure(id, name: name, reason: reason)
        }
        engine.start()
        reportProblems()
    }

    /// The limits of the systemd unit that are not in force; none if another program started the daemon.
    private lazy var missingLimits: [String] =
        Supervision.isService ? UnitLimits.ofThisProcess(home: folders.home)?.missing ?? [] : []

    /// Lets accounts go on that wait for the keyring. Without one whose token is there, nobody listens.
    private func watchKeyring() {
        guard !watchesKeyring else { return }
        watchesKeyring = true
        Task {
            keyring = try? await KeyringWatch(connection) { [weak engine] in engine?.tryAgain() }
        }
    }

    private func ports(_ version: String) -> EnginePorts {
        let http = CurlClient(userAgent: "ImageFeed/\(version)") { [unowned self] in rest() }
        self.http = http
        return EnginePorts(
            http: http,
            secrets: KeyringStore(),
            settings: settings, cacheFolder: folders.cache,
            cacheLimitBytes: settings.configuration.bytes("Daemon", "CacheLimit") ?? 512 << 20,
            logger: logger, noticeBoard: noticeBoard,
            openURL: { [browser] in try await browser.open($0, activationToken: $1) })
    }

    /// Gives memory back once no service has been asked for a minute.
    private func rest() {
        Task {
            await engine?.releaseMemory()
            Footprint.shrink()
        }
    }

    // MARK: The end

    /// Ends the process. Everything that was confirmed is on the disk already.
    private func end(_ reason: Logger.Message) -> Never {
        ExitDeadline.start()
        logger.info(reason)
        engine?.stop()
        // Before the name is free: the daemon that takes over finds the folders unlocked.
        instance.release()
        plugins.stop()
        if connection.isConnected { connection.flush() }
        connection.close()
        exit(EXIT_SUCCESS)
    }

    // MARK: Configuration

    private func reload() {
        settings.reload()
        noticeBoard.isWanted = Self.wantsNotices(settings.configuration)
        reportProblems()
        if local.setPicturesFolder(Self.picturesFolder(settings.configuration, folders)) {
            engine?.restartSessions(of: local.info.id)
        }
        engine?.setRefreshInterval(Self.refreshInterval(settings.configuration))
        engine?.settingsChanged()
        plugins.reload()
        logger.info("The configuration was read again")
    }

    private func reportProblems() {
        for problem in settings.configuration.problems {
            logger.warning("A line of the configuration was passed over: \(problem)")
        }
    }

    private static func wantsNotices(_ configuration: Configuration) -> Bool {
        configuration.bool("Daemon", "Notifications") ?? true
    }

    private static func refreshInterval(_ configuration: Configuration) -> Duration {
        configuration.duration("Daemon", "RefreshInterval") ?? Engine.defaultRefreshInterval
    }

    private static func picturesFolder(
        _ configuration: Configuration, _ folders: UserFolders
    ) -> [UInt8] {
        guard let directory = configuration.path("Provider local", "Directory") else {
            return folders.pictures
        }
        if directory.starts(with: "/".utf8) { return directory }
        return Array("\(folders.home)/".utf8)
            + directory.dropFirst(directory.starts(with: "~/".utf8) ? 2 : 0)
    }
}

/// Returns the variables that name folders.
///
/// Paths of images are strings of D-Bus, and these are UTF-8. A folder of the daemon itself therefore has to be, too;
/// another folder in its place would not be where the user looks for it. A shared folder that is not is left out.
///
/// - Throws: ``UnusableFolder``.
private func environmentVariables() throws(UnusableFolder) -> [String: String] {
    var variables: [String: String] = [:]
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        guard let value = getenv(name) else { continue }
        guard let text = String(validatingCString: value) else {
            throw UnusableFolder(variable: name)
        }
        variables[name] = text
    }
    for name in ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] {
        guard let value = getenv(name) else { continue }
        let bytes = (0..<strlen(value)).map { UInt8(bitPattern: value[$0]) }
        variables[name] = bytes.split(separator: UInt8(ascii: ":"))
            .compactMap { String(validating: $0, as: UTF8.self) }.joined(separator: ":")
    }
    return variables
}

/// A folder of the daemon whose path cannot be sent over D-Bus.
private struct UnusableFolder: Error, CustomStringConvertible {
    let variable: String

    var description: String {
        "\(variable) is not valid UTF-8, as paths on D-Bus have to be; set it to another folder."
    }
}
