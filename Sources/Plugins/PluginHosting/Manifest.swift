internal import Configuration
internal import ProviderKit

/// The content of a manifest, `NAME.provider`.
///
/// Source: `imagefeed-providers(7)`.
nonisolated struct Manifest: Sendable {
    let info: ProviderInfo
    /// The absolute path of the program, and its arguments.
    let command: [String]
    /// The folder of the manifest, with links resolved. The plugin can read it in addition to the system folders.
    let folder: String
    let sources: [SourcePattern]
    let hosts: [AllowedHosts.Pattern]
    /// Origins on this computer, for tests of a plugin. Empty unless the configuration permits them.
    let loopbackOrigins: Set<String>
    let login: PluginLogin
    /// True if the servers of the accounts may be in the network of the user, and be requested over `http`. The plugin
    /// sends requests to these servers only.
    let allowsHomeServers: Bool
    /// True if the page tokens always lead to the same photos.
    let hasStablePageTokens: Bool
    /// The character that ends the like group in a photo ID; nil if each photo is liked by itself.
    let likeGroupEnd: Character?
    /// Servers on this computer. Empty unless the configuration permits them.
    let loopbackServers: LoopbackServers
    /// The stamps of the manifest and the program, which change with their versions.
    let stamp: FileStamps

    /// The folders of the files of ``command`` that are below the folder of the manifest.
    var commandFolders: [String] {
        command.filter { $0.hasPrefix("\(folder)/") }.map(ManifestFile.parent)
    }

    /// Returns the hosts to which a plugin may send requests for an account.
    ///
    /// - Parameter server: The server of the account; empty if it has none.
    /// - Returns: The hosts of the manifest, and the server.
    func allowedHosts(server: String) -> AllowedHosts {
        var origins = loopbackOrigins
        if let address = address(ofServer: server) { origins.insert(address.origin) }
        return AllowedHosts(patterns: hosts, origins: origins)
    }

    /// Returns the address of a server. The scheme is `https`, except for a home server, or a server on this computer,
    /// whose name or configuration specifies `http`.
    func address(ofServer server: String) -> WebAddress? {
        guard !server.isEmpty else { return nil }
        if let address = loopbackServers[server] { return address }
        if allowsHomeServers {
            let address = try? ServerAddress(server, keepsPath: login == .polling)
            return address.flatMap { WebAddress($0.base) }
        }
        let address = WebAddress(server.contains("://") ? server : "https://\(server)")
        return address.flatMap { $0.isSafe && (login == .polling || $0.rest.isEmpty) ? $0 : nil }
    }

    /// Returns the name of a server that the user entered, equal for equal servers.
    func name(ofServer server: String) -> String {
        guard allowsHomeServers, loopbackServers[server] == nil else { return server }
        return (try? ServerAddress(server, keepsPath: login == .polling))?.name ?? server
    }

    /// The end of a message about a server that the user entered, with examples.
    var serverRule: String {
        let path = login == .polling ? "/cloud" : allowsHomeServers ? "" : ":8443"
        let example = allowsHomeServers ? "http://192.168.1.2:2342" : "photos.example.org\(path)"
        return "is not the name of a server, such as photos.example.org or \(example)."
    }

    /// Returns true if an ID can be that of a source of the plugin.
    func accepts(_ source: SourceID) -> Bool {
        source.text.utf8.count <= 512 && sources.contains { $0.matches(source) }
    }
}

/// The login of the accounts of a plugin.
nonisolated enum PluginLogin: Hashable, Sendable {
    /// A key that the service issued to its user; without a field for it, only a user name or a server.
    case key(KeyDescription)
    case oauth2(OAuthDescription, help: String)
    /// A browser login at a server that the user names, with the scopes that it may request, and the responses with which
    /// servers reject a token.
    case federated(scopes: Set<String>, refusals: [TokenRefusal])
    /// A browser login at a server that the user names. The daemon polls for its result.
    case polling

    var authentication: ProviderInfo.Authentication {
        switch self {
        case .key(let description): description.keyField == nil ? .none : .password
        case .oauth2, .federated, .polling: .oauth2
        }
    }

    /// True if the user names one of many servers.
    var needsServer: Bool {
        switch self {
        case .key(let description): description.needsServer
        case .oauth2: false
        case .federated, .polling: true
        }
    }
}

/// The ID of a source, or the prefix of several IDs if the text ends with `*`.
nonisolated struct SourcePattern: Hashable, Sendable {
    let text: String

    /// The prefix of the IDs; nil if the pattern is the ID of one source.
    var prefix: String? { text.hasSuffix("*") ? String(text.dropLast()) : nil }

    func matches(_ source: SourceID) -> Bool {
        guard let prefix else { return source.text == text }
        return source.text.hasPrefix(prefix) && source.text != prefix
    }
}
