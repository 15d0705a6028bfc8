internal import Logging
package import PluginProtocol
package import ProviderKit

/// A plugin that runs for a test. It runs as in the daemon, but has an observer and is never disabled after failures.
package final class PluginTrial {
    private let plugin: Plugin
    private let confiner: SandboxLauncher

    /// A valid manifest of a plugin to test.
    nonisolated package struct TriedManifest: Sendable {
        fileprivate let manifest: Manifest

        package var id: String { manifest.info.id }
        package var name: String { manifest.info.name }
        package var capabilities: Set<ProviderInfo.Capability> { manifest.info.capabilities }
        package var defaultSource: SourceID { manifest.info.defaultSource }
        package var hasStablePageTokens: Bool { manifest.hasStablePageTokens }
        package var login: Login {
            switch manifest.login {
            case .open: .open
            case .key: .key
            case .oauth2: .oauth2
            case .federated: .federated
            case .polling: .polling
            }
        }
        package var needsServer: Bool { manifest.login.needsServer }

        /// The prefixes of the sources that the manifest names with a `*`.
        package var sourcePrefixes: [String] { manifest.sources.compactMap(\.prefix) }

        /// True if an ID can be that of a source of the plugin.
        package func accepts(_ source: SourceID) -> Bool { manifest.accepts(source) }
    }

    /// The login of the accounts.
    nonisolated package enum Login: String, Sendable {
        case open = "none"
        case key
        case oauth2
        case federated
        case polling
    }

    /// A problem of a manifest.
    nonisolated package struct Problem: Sendable {
        package let text: String
        /// The number of the line, from 1; nil if the problem concerns no line.
        package let line: Int?
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
        confiner = SandboxLauncher(confinements, programs: .installed, logger: logger)
        let context = PluginContext(limits: limits, confiner: confiner, logger: logger) { _, _, _ in
        }
        plugin = Plugin(tried.manifest, settings, context)
        plugin.trace.add(observer)
    }

    /// The kind of the sandbox; nil if none is available and the plugin cannot be started.
    package var sandbox: SandboxKind? { confiner.level }

    /// Starts the plugin if it does not run.
    ///
    /// - Throws: ``ProviderError``.
    package func start() async throws { _ = try await plugin.running() }

    /// Closes the standard input of the plugin, and kills the plugin if it does not end in time.
    package func end() { plugin.retire() }

    /// An account of the plugin.
    nonisolated package struct Account: Sendable {
        fileprivate let account: PluginAccount

        package var identity: AccountIdentity { account.identity }
        /// The hosts to which requests may go.
        package var hosts: AllowedHosts { account.hosts }

        /// Sends an HTTP request, with the rules for requests of the plugin.
        ///
        /// - Throws: ``HTTPError``.
        package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            try await account.ports.http.send(try account.confine(request))
        }
    }

    /// Makes an account.
    ///
    /// - Parameters:
    ///   - identity: The user name and the server.
    ///   - ports: The HTTP client, which adds the key of the account, and the settings.
    /// - Returns: The account.
    package func makeAccount(_ identity: AccountIdentity, _ ports: SessionPorts) -> Account {
        Account(
            account: PluginAccount(
                id: plugin.makeAccountID(), plugin: plugin.manifest.info.id, identity, ports,
                plugin.manifest.allowedHosts(server: identity.server)))
    }

    /// Returns the hosts that receive the key or the token of an account, and the header field with it.
    ///
    /// - Parameter server: The server of the account.
    /// - Returns: The hosts and the header field.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if the server is not valid.
    package func access(server: String) throws(ProviderError) -> KeyDescription {
        switch plugin.manifest.login {
        case .open, .key:
            return try KeyPluginProvider(plugin: plugin).access(ProviderSettings(), server: server)
        case .oauth2(let description, _):
            return KeyDescription(
                keyField: HTTPRequest.bearerField, keyOrigins: description.tokenOrigins)
        case .federated(let rules):
            let provider = FederatedPluginProvider(plugin: plugin, rules: rules)
            let description = try provider.oauth(server, ProviderSettings())
            return KeyDescription(
                keyField: HTTPRequest.bearerField, keyOrigins: description.tokenOrigins,
                needsServer: true)
        case .polling:
            return try PollingPluginProvider(plugin: plugin)
                .access(ProviderSettings(), server: server)
        }
    }

    /// Returns the name of a server in the form in which the plugin receives it.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    package func serverName(_ text: String) throws(ProviderError) -> String {
        if case .polling = plugin.manifest.login {
            return try PollingPluginProvider(plugin: plugin).server(text, ProviderSettings())
        }
        guard case .federated(let rules) = plugin.manifest.login else { return text.lowercased() }
        return try FederatedPluginProvider(plugin: plugin, rules: rules)
            .server(text, ProviderSettings())
    }

    /// Requests the description of the login at a server from the plugin, and checks it.
    ///
    /// - Throws: ``ProviderError``.
    package func discover(_ server: String, _ ports: SessionPorts) async throws {
        if case .polling = plugin.manifest.login {
            _ = try await PollingPluginProvider(plugin: plugin).describeLogin(server, ports)
        }
        guard case .federated(let rules) = plugin.manifest.login else { return }
        _ = try await FederatedPluginProvider(plugin: plugin, rules: rules)
            .discover(server, user: nil, ports)
    }

    /// Calls a method of the plugin.
    ///
    /// - Returns: The result, which is not checked.
    /// - Throws: ``ProviderError``; ``HTTPError``; `CancellationError`.
    package func call(
        _ method: PluginMethod, _ parameters: [String: JSONValue], _ account: Account
    ) async throws -> JSONValue {
        try await plugin.call(method, parameters, account.account) {
            reader throws(PluginFault) in reader.value
        }
    }
}
