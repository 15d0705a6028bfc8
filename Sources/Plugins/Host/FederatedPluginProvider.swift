internal import PluginProtocol
internal import ProviderKit
internal import Quoting

/// A plugin of a service with many servers and a browser login.
///
/// The plugin determines the login method of a server. Only that server receives codes, secrets and tokens; the plugin
/// receives none of them.
struct FederatedPluginProvider: PluginProvider, FederatedLogin {
    let plugin: Plugin
    /// The scopes that a login may request.
    let scopes: Set<String>
    /// The responses with which servers reject a token.
    let refusals: [TokenRefusal]

    nonisolated func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String {
        try ServerName(text).text
    }

    /// Returns a description that does not depend on the plugin's discovery: the token is sent to the server only.
    nonisolated func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription {
        guard let base = plugin.manifest.address(ofServer: server) else {
            throw .invalidArgument(
                "\(server.excerpt) is not the name of a server, such as photos.example.org.")
        }
        return complete(
            OAuthDescription(
                authorizationURL: base.text, tokenURL: base.text, scopes: [], tokenOrigins: []),
            base)
    }

    nonisolated private func complete(
        _ oauth: OAuthDescription, _ base: WebAddress
    ) -> OAuthDescription {
        var oauth = oauth
        oauth.tokenOrigins = [base.origin]
        oauth.tokenRefusals = refusals
        // The servers of a service are independent: each one has its own rate limit.
        oauth.countsPerApplication = false
        return oauth
    }

    nonisolated func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer {
        let account = PluginAccount(
            plugin, AccountIdentity(username: user ?? "", server: server), ports)
        return try await plugin.call(.discover, [:], account) {
            reader throws(PluginFault) in
            let found = try DiscoveredServer(reader)
            guard let base = plugin.manifest.address(ofServer: found.name),
                account.hosts.permits(base)
            else {
                throw PluginFault(
                    "\(found.name) is neither the server of the login nor in Hosts of the manifest")
            }
            try check(found.oauth, base)
            return DiscoveredServer(name: found.name, oauth: complete(found.oauth, base))
        }
    }

    nonisolated private func check(
        _ oauth: OAuthDescription, _ base: WebAddress
    ) throws(PluginFault) {
        let addresses = [
            oauth.authorizationURL, oauth.tokenURL, oauth.revocationURL, oauth.registration?.url,
        ]
        for text in addresses.compactMap({ $0 }) where WebAddress(text)?.origin != base.origin {
            throw PluginFault(
                "\(text) is not at \(base.origin), the only origin that may receive secrets")
        }
        for scope in oauth.scopes where !scopes.contains(scope) {
            throw PluginFault("the scope \(scope) is not in Scopes of the manifest")
        }
    }

    nonisolated func identify(
        _ server: String, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        try await fetchIdentity(AccountIdentity(username: "", server: server), ports)
    }
}
