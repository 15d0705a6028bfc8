internal import Logging
package import ProviderKit

/// A plugin that runs for a test. It runs as in the daemon, but has an observer and is never disabled after failures.
package final class PluginTrial {
    private let plugin: Plugin
    /// The provider, as the daemon uses it.
    package let provider: any InstalledProvider

    /// A problem of a manifest.
    nonisolated package struct Problem: Sendable {
        package let text: String
        /// The number of the line, from 1; nil if the problem concerns no line.
        package let line: Int?
    }

    /// A valid manifest of a plugin to test.
    nonisolated package struct TriedManifest: Sendable {
        fileprivate let manifest: Manifest
    }

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - settings: The settings of the provider.
    /// - Returns: The manifest, or nil if the daemon would not use it, and all problems.
    nonisolated package static func read(
        _ path: String, _ settings: ProviderSettings
    ) -> (manifest: TriedManifest?, problems: [Problem]) {
        var problems = ManifestProblems()
        let manifest = Manifest(path: path, settings: settings, &problems)
        let all = problems.all.map { Problem(text: $0.problem.description, line: $0.line) }
        return (all.isEmpty ? manifest.map(TriedManifest.init) : nil, all)
    }

    /// - Parameters:
    ///   - tried: The manifest.
    ///   - settings: The settings of the provider.
    ///   - limits: The limits of the plugin.
    ///   - confinements: The kinds of sandbox that may be used, the strictest first.
    ///   - observer: Receives the events of the plugin.
    package init(
        _ tried: TriedManifest, _ settings: ProviderSettings, _ limits: PluginLimits,
        confinements: [SandboxKind], observer: @escaping (PluginEvent) -> Void
    ) {
        var limits = limits
        limits.failures = .max
        limits.firstPause = .zero
        let logger = Logger(label: "plugin") { _ in SwiftLogNoOpLogHandler() }
        let confiner = SandboxLauncher(confinements, programs: .installed, logger: logger)
        let context = PluginContext(limits: limits, confiner: confiner, logger: logger) { _, _, _ in
        }
        plugin = Plugin(tried.manifest, settings, context)
        provider = plugin.provider
        plugin.trace.add(observer)
    }

    /// The prefixes of the sources that the manifest names with a `*`.
    package var sourcePrefixes: [String] { plugin.manifest.sources.compactMap(\.prefix) }

    /// Starts the plugin if it does not run.
    ///
    /// - Throws: ``ProviderError``.
    package func start() async throws { _ = try await plugin.running() }

    /// Ends the process, as if the plugin were idle. The next call starts another one.
    ///
    /// - Throws: ``ProviderError`` if no process runs and none can be started.
    package func end() async throws { try await plugin.running().end() }
}
