internal import Logging
internal import Plugins
internal import ProviderKit
internal import System

/// A plugin in a folder of its own, and a host for it that can begin anew.
final class InstalledPlugin {
    private let folder: String
    private let settings: ProviderSettings
    private let http: any HTTPClient
    private let username: String
    private var host: PluginHost?

    /// - Parameters:
    ///   - folder: Where manifests lie.
    ///   - settings: What is configured for it.
    ///   - http: The web.
    ///   - username: Whose account it is.
    init(folder: String, settings: [String: String], http: any HTTPClient, username: String) {
        self.folder = folder
        self.settings = ProviderSettings(settings.merging(["AllowLoopback": "true"]) { $1 })
        self.http = http
        self.username = username
    }

    /// Ends the process, if there is one, and begins a session that has none yet.
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

/// Puts plugins where they are looked for.
enum PluginFiles {
    /// Copies a file, by another process: ours shall not have it open for writing when it is run.
    static func copy(_ source: String, to path: String) throws {
        guard try SpawnedProcess("/bin/cp", [source, path]).waitForExit() == .code(0) else {
            throw BenchmarkError("\(source) cannot be copied to \(path)")
        }
    }
}

/// Says what is worse than it should be.
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
