import Logging
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// A plugin whose program was built with the tests.
@MainActor
final class BuiltPlugin {
    let log = Observed<[String]>()
    private let provider: any InstalledProvider
    private let host: PluginHost
    private let directory: TemporaryDirectory
    private let settings: ProviderSettings

    /// - Parameters:
    ///   - program: Its name.
    ///   - manifest: Its manifest, with `./PROGRAM/PROGRAM` as the command.
    ///   - settings: The settings of the provider.
    /// - Throws: An error of the file system or of the manifest.
    init(_ program: String, _ manifest: String, _ settings: [String: String]) throws {
        directory = try TemporaryDirectory()
        let id = try #require(manifest.firstMatch(of: /Id=(.*)/)?.output.1)
        try directory.write(manifest, to: "providers/\(id).provider")
        try directory.write("", to: "providers/\(id)/README")
        try BuiltProducts.copy(program, to: directory.appending("providers/\(id)/\(id)"))
        let logger = Logger(label: "test") { [log] _ in ListLogHandler(lines: log) }
        let values = ProviderSettings(settings.merging(["AllowLoopback": "true"]) { $1 })
        host = PluginHost(
            folders: [directory.appending("providers")], reserved: [], limits: .wide,
            confinements: [.bubblewrap], logger: logger
        ) { _ in values }
        host.start()
        self.settings = values
        provider = try #require(host.providers.first)
        try #require(provider.condition.state == .ready, "\(provider.condition.reason)")
    }

    isolated deinit { host.stop() }

    /// Starts a session.
    func session(_ account: AccountIdentity, _ http: any HTTPClient) -> any Session {
        provider.makeSession(account, SessionPorts(http: http, settings: settings, logger: .silent))
    }
}
