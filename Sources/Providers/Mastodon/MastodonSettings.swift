internal import ProviderKit
internal import Quoting

/// What is configured for the servers, checked.
struct MastodonSettings: Hashable, Sendable {
    /// Whether pictures are shown that are marked as sensitive, or come with a warning.
    let showsSensitive: Bool
    /// The port of the redirect address, for servers that compare it exactly.
    let redirectPort: UInt16
    let loopbackServers: LoopbackServers

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        switch settings["ShowSensitive"] {
        case nil, "false": showsSensitive = false
        case "true": showsSensitive = true
        default: throw Self.wrong("ShowSensitive", "has to be true or false.")
        }
        let port = settings["RedirectPort"] ?? "43117"
        guard port.utf8.allSatisfy(\.isDigit), let port = UInt16(port), port > 0 else {
            throw Self.wrong("RedirectPort", "has to be a number from 1 to 65535, such as 43117.")
        }
        redirectPort = port
        guard let servers = LoopbackServers(settings["LoopbackServers"] ?? "") else {
            throw Self.wrong("LoopbackServers", LoopbackServers.rule)
        }
        loopbackServers = servers
    }

    /// Where a server is asked: by `https` under its name, unless the configuration puts it on this computer.
    func base(_ server: String) throws(ProviderError) -> WebAddress {
        if let address = loopbackServers[server] { return address }
        guard let address = WebAddress("https://\(server)") else {
            throw .invalidArgument("\(server.excerpt) is not the name of a server.")
        }
        return address
    }

    /// The name of the server at an address that an answer came from; nil where it is none.
    func server(at url: String) -> String? {
        guard let address = WebAddress(url) else { return nil }
        if let known = loopbackServers.name(of: address.origin) { return known }
        guard address.scheme == .https, address.port == nil else { return nil }
        return try? ServerName(address.host).text
    }

    /// Returns the name of the server that an address names in an answer, whether or not it is on this computer.
    func serverName(_ url: String) -> String? {
        guard let address = WebAddress(url), address.scheme == .https, address.port == nil else {
            return nil
        }
        return try? ServerName(address.host).text
    }

    private static func wrong(_ key: String, _ what: String) -> ProviderError {
        .notConfigured("\(key) of [Provider mastodon] in imagefeed.conf \(what)")
    }
}
