internal import Configuration
internal import ProviderKit

/// What a file `NAME.provider` says of a plugin.
///
/// Source: `imagefeed-providers(7)`.
nonisolated struct Manifest: Hashable, Sendable {
    let info: PluginInfo
    /// The program, absolute, and its arguments.
    let command: [String]
    /// Where the manifest lies, links resolved: what the plugin may read beside what the system has.
    let folder: String
    let sources: [SourcePattern]
    let hosts: [AllowedHosts.Pattern]
    /// Origins on this computer, for who develops a plugin; only where the configuration allows it.
    let loopbackOrigins: Set<String>
    let login: PluginLogin
    /// Whether the places of pages lead to the same photos for good.
    let hasStablePageTokens: Bool
    /// What ends the part of a photo's id that all photos have that are liked as one; nil if each is liked by itself.
    let likeGroupEnd: Character?
    /// Servers on this computer, likewise.
    let loopbackServers: LoopbackServers
    /// The settings whose values are not shown in traces.
    let secretSettings: Set<String>
    /// Tells versions of manifest and program apart.
    let stamp: FileStamps

    /// The hosts that a plugin may have asked for an account.
    ///
    /// - Parameter server: The one that the user named, if there is one.
    /// - Returns: Those of the manifest, and that server.
    func allowedHosts(server: String) -> AllowedHosts {
        var origins = loopbackOrigins
        if let address = address(ofServer: server) { origins.insert(address.origin) }
        return AllowedHosts(patterns: hosts, origins: origins)
    }

    /// What a server is asked by: `https`, or `http` on this computer if its name or the configuration says so.
    func address(ofServer server: String) -> WebAddress? {
        guard !server.isEmpty else { return nil }
        if let address = loopbackServers[server] { return address }
        let address = WebAddress(server.contains("://") ? server : "https://\(server)")
        return address.flatMap { $0.isSafe && $0.rest.isEmpty ? $0 : nil }
    }

    /// Whether an id can be that of a source of the plugin's.
    func accepts(_ source: SourceID) -> Bool {
        source.text.utf8.count <= 512 && sources.contains { $0.matches(source) }
    }
}

/// What a plugin tells of itself.
nonisolated struct PluginInfo: Hashable, Sendable {
    let id: String
    let name: String
    let iconName: String
    let capabilities: Set<ProviderInfo.Capability>
    let defaultSource: SourceID
}

/// How accounts of a plugin are logged in to.
nonisolated enum PluginLogin: Hashable, Sendable {
    /// With no more than a name or a server.
    case open(needsServer: Bool)
    /// With a key that the service gave its user.
    case key(field: String, hosts: [String], needsServer: Bool)
    case oauth2(OAuthDescription, help: String)
    /// In the browser, at a server that the user names.
    case federated(FederationRules)

    /// Whether there are many servers, of which the user names one.
    var needsServer: Bool {
        switch self {
        case .open(let needsServer), .key(_, _, let needsServer): needsServer
        case .oauth2: false
        case .federated: true
        }
    }
}

/// What holds for every server of a plugin, whatever it says of itself.
nonisolated struct FederationRules: Hashable, Sendable {
    /// The most that is asked for.
    let scopes: Set<String>
    /// The answers with which servers refuse a token.
    let refusals: [TokenRefusal]
}

/// Names one source, or, with `*` at its end, all that begin alike.
nonisolated struct SourcePattern: Hashable, Sendable {
    private let text: String
    private let isPrefix: Bool

    init(_ text: String) {
        isPrefix = text.hasSuffix("*")
        self.text = isPrefix ? String(text.dropLast()) : text
    }

    /// The beginning of the names; nil if the pattern names one source.
    var prefix: String? { isPrefix ? text : nil }

    func matches(_ source: SourceID) -> Bool {
        isPrefix ? source.text.hasPrefix(text) && source.text != text : source.text == text
    }
}

/// A problem of a manifest: one sentence for its author.
nonisolated struct ManifestProblem: Error, Hashable, CustomStringConvertible {
    let description: String

    /// Makes a problem of a sentence that may quote the manifest.
    init(_ description: String) {
        self.description = ServiceText.message(description) ?? ""
    }
}
