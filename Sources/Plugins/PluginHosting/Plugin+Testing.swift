internal import Logging
package import ProviderKit

/// The interface for the test of a plugin.
extension Plugin {
    /// Reads a manifest, and creates its plugin, which runs as in the daemon, but has an observer and is never disabled
    /// after failures. The initializer fails if the daemon would not use the manifest.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - settings: The settings of the provider.
    ///   - limits: The limits of the plugin.
    ///   - confinements: The kinds of sandbox that may be used, the strictest first.
    ///   - problems: Receives all problems of the manifest, with the numbers of their lines, from 1.
    ///   - observer: Receives the events of the plugin.
    package convenience init?(
        _ path: String, _ settings: ProviderSettings, _ limits: PluginLimits,
        confinements: [SandboxKind], _ problems: inout [(text: String, line: Int?)],
        observer: @escaping PluginObserver
    ) {
        let found = ManifestProblems()
        let manifest = Manifest(path: path, settings: settings, found)
        problems = found.all
        guard let manifest else { return nil }
        var limits = limits
        limits.failures = .max
        limits.firstPause = .zero
        let logger = Logger(label: "plugin") { _ in SwiftLogNoOpLogHandler() }
        let launcher = SandboxLauncher(confinements, limits, programs: .installed, logger: logger)
        self.init(manifest, settings, launcher, observer)
    }

    /// The prefixes of the sources that the manifest names with a `*`.
    package var sourcePrefixes: [String] { manifest.sources.compactMap(\.prefix) }

    /// Returns a session of an account, which has all features.
    package func makeTestSession(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) -> any ProfileSession & RemoteImages & RemoteLikes { PluginSession(self, account, ports) }

    /// Starts the plugin if it does not run.
    ///
    /// - Throws: ``ProviderError``.
    package func startProcess() async throws { _ = try await running() }

    /// Ends the process, as if the plugin were idle. The next call starts another one.
    ///
    /// - Throws: ``ProviderError`` if no process runs and none can be started.
    package func endProcess() async throws { try await running().end() }
}
