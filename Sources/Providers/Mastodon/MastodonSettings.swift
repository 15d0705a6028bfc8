internal import ProviderKit
internal import Quoting
internal import Translation

/// The settings of the provider, validated.
struct MastodonSettings: Hashable, Sendable {
    /// True if photos are included that are marked as sensitive or have a content warning.
    let showsSensitive: Bool
    /// The port of the redirect address, for servers that compare it exactly.
    let redirectPort: UInt16
    let loopbackServers: LoopbackServers

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        showsSensitive = try settings.flag("ShowSensitive", of: "mastodon")
        redirectPort = try settings.redirectPort(of: "mastodon")
        guard let servers = LoopbackServers(settings["LoopbackServers"] ?? "") else {
            throw .invalidSetting(
                "LoopbackServers", of: "mastodon", Message(verbatim: LoopbackServers.rule))
        }
        loopbackServers = servers
    }

    /// Returns the base address of a server: `https` and its name, unless the configuration maps the server to this
    /// computer.
    func base(_ server: String) throws(ProviderError) -> WebAddress {
        if let address = loopbackServers[server] { return address }
        guard let address = WebAddress("https://\(server)") else {
            throw .invalidArgument("\(server.excerpt) is not the name of a server.")
        }
        return address
    }

    /// Returns the name of the server that sent a response from `url`; nil if the address is not that of a server.
    func server(at url: String) -> String? {
        let origin = WebAddress(url)?.origin
        return origin.flatMap { loopbackServers.name(of: $0) } ?? serverName(url)
    }

    /// Returns the name of the server that an address in a document refers to; nil if it refers to no server.
    func serverName(_ url: String) -> String? {
        guard let address = WebAddress(url), address.scheme == .https, address.port == nil else {
            return nil
        }
        return try? ServerName(address.host).text
    }
}
