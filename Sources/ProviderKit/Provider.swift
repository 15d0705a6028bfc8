internal import Translation
@_exported public import Web

/// A provider connects Image Feed to one kind of photo service.
///
/// The provider conforms to one of ``KeyLogin``, ``OAuthLogin``, ``FederatedLogin`` or ``PollingLogin``, which sets its
/// ``loginMethod``. Optional features are protocols of their own: its sessions conform to ``RemoteFeed``, and, if they
/// support it, to ``RemoteLikes``, ``RemoteImages`` and ``ProfileSession``. See ``Session``.
public protocol Provider: Sendable {
    /// The description of the provider. It is constant.
    var info: ProviderInfo { get }

    /// Creates the session of a logged-in account.
    ///
    /// Returns at once. Requests begin with the first call of the session or in the background.
    ///
    /// - Parameters:
    ///   - account: The identity that the login returned.
    ///   - ports: The HTTP client with the credentials of the account, the settings and the logger.
    /// - Returns: A new session.
    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session

    /// The login of the provider. Each protocol of a login implements it.
    var loginMethod: LoginMethod { get }
}

/// The login of a provider.
public enum LoginMethod: Sendable {
    /// The provider has none of these logins.
    case none
    /// A login with an API key, or with only a user name or server.
    case key(any KeyLogin)
    /// A browser login.
    case oauth(any OAuthLogin)
    /// A browser login at a server that the user names.
    case federated(any FederatedLogin)
    /// A browser login at a server that the user names, which the engine polls for.
    case polling(any PollingLogin)

    /// The provider as ``OAuthLogin``; nil if it has another login.
    package var oauth: (any OAuthLogin)? {
        if case .oauth(let provider) = self { provider } else { nil }
    }

    /// True if the user names a server that registers the application.
    package var isFederated: Bool { if case .federated = self { true } else { false } }

    /// True if the accounts have an OAuth token.
    package var usesOAuth: Bool { oauth != nil || isFederated }

    /// Returns the OAuth description of a server; nil for a login without OAuth.
    package func oauthDescription(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> OAuthDescription? {
        switch self {
        case .oauth(let login): try login.oauth(settings)
        case .federated(let login): try login.oauth(server, settings)
        case .none, .key, .polling: nil
        }
    }

    /// Describes the requests that carry the token or the key of an account at a server.
    package func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        switch self {
        case .key(let login): try login.access(settings, server: server)
        case .polling(let login): try login.access(settings, server: server)
        case .none, .oauth, .federated:
            KeyDescription(try oauthDescription(settings, server: server))
        }
    }

    /// Returns the user of an account whose credentials the requests carry; nil for a login without such requests.
    package func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity? {
        switch self {
        case .key(let login): try await login.identify(account, ports)
        case .oauth(let login): try await login.identify(ports)
        case .federated(let login): try await login.identify(account.server, ports)
        case .polling(let login): try await login.identify(account, ports)
        case .none: nil
        }
    }
}

// The defaults. The compiler chooses one where a type conforms to `Provider`.

extension Provider {
    /// None.
    public var loginMethod: LoginMethod { .none }
}

extension KeyLogin {
    /// The login with a key.
    public var loginMethod: LoginMethod { .key(self) }
}

extension OAuthLogin {
    /// The browser login.
    public var loginMethod: LoginMethod { .oauth(self) }
}

extension FederatedLogin {
    /// The browser login at a server.
    public var loginMethod: LoginMethod { .federated(self) }
}

extension PollingLogin {
    /// The browser login with polling.
    public var loginMethod: LoginMethod { .polling(self) }
}

/// The description of a provider.
public struct ProviderInfo: Sendable {
    /// The kind of login. The raw values are those of the D-Bus property `Authentication`.
    public enum Authentication: String, Sendable {
        /// A browser login.
        case oauth2
        /// A user name with a password or key.
        case password
        /// No credentials.
        case none
    }

    /// A feature of a provider. The raw values are those of the D-Bus property `Capabilities` and of the manifest.
    public enum Capability: String, Sendable {
        /// Photos in sources.
        case feed
        /// Likes: ``RemoteLikes``.
        case like
        /// A profile: ``ProfileSession``.
        case profile
        /// Sources of the kind ``Source/Kind/album``.
        case albums
        /// Setting an avatar. A plugin cannot have it.
        case avatar
        /// Creating users. A plugin cannot have it.
        case register
        /// The sources `search:WORDS`.
        case search
        /// Counting of downloads by the service: ``RemoteFeed/countDownload(_:)``.
        case download
        /// Many servers: the user names one at the login.
        case server
        /// The source `memories`: the photos that were taken on this day in earlier years. Plugins cannot have it.
        case memories
    }

    /// The ID: lower-case letters, digits and underscores, such as `unsplash`. At most 32 characters.
    public let id: String
    /// The name to show.
    public let name: String
    /// The name of an icon in the freedesktop icon theme.
    public let iconName: String
    /// The kind of login.
    public let authentication: Authentication
    /// The supported features.
    public let capabilities: [Capability]
    /// The source that a new account shows first.
    public let defaultSource: SourceID

    /// Creates a description.
    public init(
        id: String, name: String, iconName: String, authentication: Authentication,
        capabilities: [Capability], defaultSource: SourceID
    ) {
        self.id = id
        self.name = name
        self.iconName = iconName
        self.authentication = authentication
        self.capabilities = capabilities
        self.defaultSource = defaultSource
    }

    /// The name in the language of the user, for clients. Names of services are the same in each language.
    package var translatedName: String {
        switch name {
        case "Photos on this computer": tr("Photos on this computer")
        case "Picture of the day": tr("Picture of the day")
        default: name
        }
    }
}

/// The identity of an account: user name, server and user ID, as known to the service.
public struct AccountIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The user name. Some services let their users change it.
    public let username: String
    /// The host name of the server of a federated service; empty for other services.
    public let server: String
    /// The stable ID of the user at the service or server, which a rename does not change; nil if it is not known.
    public let userID: String?

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - server: The host name of the server of a federated service.
    ///   - userID: The stable ID of the user: 1 to 256 bytes of visible ASCII. Any other value counts as not known.
    public init(username: String, server: String = "", userID: String? = nil) {
        self.username = username
        self.server = server
        self.userID = userID.flatMap { id in
            1...256 ~= id.utf8.count && id.utf8.allSatisfy { 0x21...0x7e ~= $0 } ? id : nil
        }
    }

    /// Returns true if both identities are those of one user: by the user ID if both have one, otherwise by the user
    /// name.
    package func isSameUser(as other: AccountIdentity) -> Bool {
        guard server == other.server else { return false }
        if let userID, let otherID = other.userID { return userID == otherID }
        return username == other.username
    }

    /// The user name, with `@` and the server if there is one.
    public var description: String { server.isEmpty ? username : "\(username)@\(server)" }
}
