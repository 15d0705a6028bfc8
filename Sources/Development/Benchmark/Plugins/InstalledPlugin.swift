internal import Logging
internal import PluginHosting
internal import ProviderKit
internal import System

/// A plugin in a separate folder, with a plugin host that is replaced for each session.
final class InstalledPlugin {
    private let folder: String
    private let settings: ProviderSettings
    private let http: any HTTPClient
    private let username: String
    private var host: PluginHost?

    /// - Parameters:
    ///   - folder: The folder with the manifest.
    ///   - settings: The settings of the plugin.
    ///   - http: The HTTP client for the requests of the plugin.
    ///   - username: The user name of the account.
    init(folder: String, settings: [String: String], http: any HTTPClient, username: String) {
        self.folder = folder
        self.settings = ProviderSettings(settings.merging(["AllowLoopback": "true"]) { $1 })
        self.http = http
        self.username = username
    }

    /// Ends the process of the plugin, if there is one, and creates a session whose first call starts another process.
    func newSession() throws -> any RemoteFeed {
        host?.stop()
        let logger = Logger(label: "plugins") { ComplainingLogHandler(label: $0) }
        let host = PluginHost(
            folders: [folder], reserved: [], confinements: [.bubblewrap, .landlock], logger: logger
        ) { [settings] _ in settings }
        host.start()
        self.host = host
        guard let provider = host.providers.first, provider.condition.state == .ready else {
            throw BenchmarkError("no plugin in \(folder): \(host.providers.map(\.condition))")
        }
        let session = provider.makeSession(
            AccountIdentity(username: username),
            SessionPorts(http: http, settings: settings, logger: logger))
        guard let feed = session.remoteFeed else {
            throw BenchmarkError("the plugin in \(folder) has no feed")
        }
        return feed
    }

    /// The sandbox of the plugin.
    var confinement: String { host?.providers.first?.condition.sandbox ?? "" }

    func stop() { host?.stop() }
}

/// Installs the files of plugins.
enum PluginFiles {
    /// Copies a file with another process.
    ///
    /// If this process wrote the file, child processes could inherit the descriptor, and the file could not be run
    /// until they close it ("Text file busy").
    static func copy(_ source: String, to path: String) throws {
        guard try SpawnedProcess("/bin/cp", [source, path]).waitForExit() == .code(0) else {
            throw BenchmarkError("\(source) cannot be copied to \(path)")
        }
    }
}

/// A log handler that prints warnings and errors to standard error.
nonisolated private struct ComplainingLogHandler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = "\(label): \(event.message) \(event.metadata ?? [:])"
        Task { @MainActor in complain(line) }
    }
}
