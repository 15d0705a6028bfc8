package import ProviderKit

/// The provider of the pictures of the day of Wikimedia Commons. It has one account, without a user or credentials.
///
/// Source: the documentation of the MediaWiki Action API; Wikimedia's access policy for its APIs, for the user agent and
/// the limits.
package struct DailyProvider: KeyLogin {
    package let info = ProviderInfo(
        id: "daily", name: "Picture of the day", iconName: "image-x-generic", authentication: .none,
        capabilities: [.feed, .like, .profile], defaultSource: SourceID("all"))

    /// The user name of the account.
    static let username = "commons"

    /// Creates the provider.
    package init() {}

    package func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        KeyDescription(keyField: nil, keyOrigins: [try settings.commonsAddress().origin])
    }

    /// Returns the identity of the account, without a request.
    package func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        guard account.username.isEmpty || account.username == Self.username else {
            throw ProviderError.invalidArgument(
                "Wikimedia Commons is used without a user; log in without a user name.")
        }
        return AccountIdentity(username: Self.username)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        DailySession(ports)
    }
}

extension ProviderSettings {
    /// Returns the address of the Action API.
    ///
    /// - Throws: ``ProviderError/notConfigured(_:)``.
    func commonsAddress() throws(ProviderError) -> WebAddress {
        try address("ApiUrl", of: "daily", default: "https://commons.wikimedia.org/w/api.php")
    }
}
