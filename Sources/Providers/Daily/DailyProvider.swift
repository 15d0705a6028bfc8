package import ProviderKit
internal import Translation

/// The provider of the pictures of the day of Wikimedia Commons. It has one account, without a user or credentials.
///
/// Source: the documentation of the MediaWiki Action API; Wikimedia's access policy for its APIs, for the user agent and
/// the limits.
package struct DailyProvider: KeyLogin {
    package let info = ProviderInfo(
        id: Self.id, name: "Picture of the day", iconName: "image-x-generic", authentication: .none,
        capabilities: [.feed, .like, .profile], defaultSource: SourceID("all"))

    /// The ID of the provider.
    package static let id = "daily"
    /// The user name of the account.
    static let username = "commons"

    private let hasContact: @Sendable @MainActor () -> Bool

    /// Creates the provider.
    ///
    /// - Parameter hasContact: Returns true if the user agent of requests has a contact.
    package init(hasContact: @escaping @Sendable @MainActor () -> Bool = { true }) {
        self.hasContact = hasContact
    }

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
        // Source: foundation.wikimedia.org, "Policy:Wikimedia Foundation User-Agent Policy".
        let isWikimedia = try !ports.settings.commonsAddress().isLoopback
        if isWikimedia, await !hasContact() {
            throw ProviderError.notConfigured(
                Message(
                    "Wikimedia Commons refuses programs without a contact; set Contact= in the group [Daemon] of imagefeed.conf to your mail address."
                ))
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
