/// A service that photos come from: what it is, and how it makes sessions.
///
/// What a provider and its sessions can do beyond this they say by conforming to the small protocols beside
/// this one: ``PasswordLogin``, ``OAuthLogin`` or ``FederatedLogin``; ``FeedSession`` or ``RemoteFeed``,
/// ``RemoteLikes``, ``ImageSession``, ``ProfileSession``.
public protocol Provider: Sendable {
    var info: ProviderInfo { get }

    /// Makes the session of an account that is logged in.
    ///
    /// Returns at once and does no work yet: what takes time is begun by the first call or in the
    /// background.
    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session
}

/// What a provider tells of itself.
public struct ProviderInfo: Sendable {
    public enum Authentication: String, Sendable {
        case oauth2
        case password
        case none
    }

    public enum Capability: String, Sendable {
        case feed
        case like
        case profile
        case albums
        case avatar
        case register
        case search
        case download
        /// There are many servers: whoever logs in names one.
        case server
    }

    /// Letters, digits and underscores: `local`, `unsplash`.
    public let id: String
    /// What a person calls it.
    public let name: String
    /// The name of an icon of the freedesktop icon theme.
    public let iconName: String
    public let authentication: Authentication
    public let capabilities: [Capability]
    /// What is shown first by an account that has not chosen.
    public let defaultSource: SourceID

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
}

/// The identity of an account: user name, server and user ID, as known to the service.
public struct AccountIdentity: Hashable, Sendable {
    public let username: String
    /// The host name of a federated service; empty elsewhere.
    public let server: String
    /// The stable ID of the user at the service or server, which a rename does not change; nil if it is not known.
    public let userID: String?

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - username: The user name. A service may let its users change it.
    ///   - server: The host name of a federated service.
    ///   - userID: The stable ID of the user: 1 to 256 bytes of visible ASCII. Any other value counts as not known.
    public init(username: String, server: String = "", userID: String? = nil) {
        self.username = username
        self.server = server
        self.userID = userID.flatMap { id in
            1...256 ~= id.utf8.count && id.utf8.allSatisfy { 0x21...0x7e ~= $0 } ? id : nil
        }
    }

    /// Returns true if both identities are those of one user: by the user ID if both have one, otherwise by the
    /// user name.
    package func isSameUser(as other: AccountIdentity) -> Bool {
        guard server == other.server else { return false }
        if let userID, let otherID = other.userID { return userID == otherID }
        return username == other.username
    }
}

/// The user name, at its server where it has one.
extension AccountIdentity: CustomStringConvertible {
    public var description: String { server.isEmpty ? username : "\(username)@\(server)" }
}

/// A provider that is logged in to with a name and, maybe, a password.
public protocol PasswordLogin: Provider {
    /// Checks a request before anything is done.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` and ``ProviderError/notSupported(_:)``, for what
    ///   cannot ever succeed.
    func check(_ request: PasswordLoginRequest) throws(ProviderError)

    /// Logs in, or registers and logs in.
    ///
    /// - Throws: ``ProviderError/noSuchUser(_:)``, ``ProviderError/userExists(_:)``,
    ///   ``ProviderError/wrongPassword(_:)``, ``ProviderError/rateLimited(until:)`` for too many tries.
    func logIn(_ request: PasswordLoginRequest) async throws -> AccountIdentity

    /// Deletes the user and all that the provider keeps of them.
    func removeUser(_ account: AccountIdentity) async throws
}

/// A provider that keeps its users itself, and knows them also while they are logged out.
public protocol ProfileKeeper: Provider {
    func profile(of account: AccountIdentity) async throws -> Profile
}

/// What somebody who logs in with a name gave.
public struct PasswordLoginRequest: Sendable {
    public let username: String
    /// Whether a password was given.
    public let hasPassword: Bool
    /// Whether the user is new.
    public let registers: Bool
    /// The password, once it was read: when somebody logs in, not when the request is checked.
    public var password: Secret?

    public init(username: String, hasPassword: Bool, registers: Bool) {
        self.username = username
        self.hasPassword = hasPassword
        self.registers = registers
    }
}
