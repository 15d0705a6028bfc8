package import DBus
internal import Translation

/// The names of this project's D-Bus contract.
///
/// Source: `dist/interfaces/*.xml`.
package enum ServiceName {
    package static let bus: BusName = "org.imagefeed.ImageFeed1"
    package static let root: ObjectPath = "/org/imagefeed/ImageFeed1"
    package static let providers = root.appending("providers")
    package static let accounts = root.appending("accounts")
    package static let logins = root.appending("logins")
    package static let transfers = root.appending("transfers")
    package static let combined = root.appending("combined")
    package static let slideshow = root.appending("slideshow")
}

extension InterfaceName {
    /// The version of an interface of the contract.
    package var version: UInt32 { Self.versions[self] ?? 1 }

    /// The names of the properties, in the order of their documentation.
    package var properties: [String] { Self.properties[self] ?? [] }

    /// The constant property that contains ``version``. `Manager.Version` is the version of the daemon.
    package var versionProperty: MemberName { self == .manager ? .interfaceVersion : .version }
}

/// The errors of the contract: `org.imagefeed.ImageFeed1.Error.` and the capitalised name of the case.
package enum ServiceError: String, CaseIterable, Sendable {
    case notConfigured = "NotConfigured"
    case needsLogin = "NeedsLogin"
    case loginDenied = "LoginDenied"
    case loginFailed = "LoginFailed"
    case loginTimedOut = "LoginTimedOut"
    case cancelled = "Cancelled"
    case noSuchUser = "NoSuchUser"
    case userExists = "UserExists"
    case wrongPassword = "WrongPassword"
    case alreadyLoggedIn = "AlreadyLoggedIn"
    case notFound = "NotFound"
    case staleCursor = "StaleCursor"
    case notSupported = "NotSupported"
    case rateLimited = "RateLimited"
    case offline = "Offline"
    case serviceFailed = "ServiceFailed"
    case secretStoreUnavailable = "SecretStoreUnavailable"
    case secretStoreLocked = "SecretStoreLocked"
    case storageFull = "StorageFull"
    case storageFailed = "StorageFailed"
    case tooLarge = "TooLarge"

    private static let prefix = "org.imagefeed.ImageFeed1.Error."

    /// The name on the bus.
    package var name: ErrorName { ErrorName(unchecked: Self.prefix + rawValue) }

    /// Returns the error with this name; nil if it is not one of the contract.
    package init?(_ name: ErrorName) {
        guard name.text.hasPrefix(Self.prefix) else { return nil }
        self.init(rawValue: String(name.text.dropFirst(Self.prefix.count)))
    }
}

/// The options of `Manager.Login`.
package enum LoginOption: String, CaseIterable, Sendable {
    case account
    case username
    case password
    case register
    case server
    case manual
}

/// The settings of `Provider.Configure`.
package enum ProviderSetting: String, CaseIterable, Sendable {
    case clientID = "client_id"
    case clientSecret = "client_secret"
}

/// The values of `Account.State`.
package enum AccountStateName: String, CaseIterable, Sendable {
    case ready
    case loading
    case offline
    case rateLimited = "rate-limited"
    case locked
    case needsLogin = "needs-login"
    case failed
    case loggedOut = "logged-out"

    /// The state in the language of the user.
    package var word: String {
        switch self {
        // Translators: the state of an account or a provider.
        case .ready: tr("ready")
        // Translators: the state of an account: its photos are being fetched.
        case .loading: tr("loading")
        // Translators: the state of an account, or of the daemon: there is no network.
        case .offline: tr("offline")
        // Translators: the state of an account: the service permits no more requests at the moment.
        case .rateLimited: tr("rate-limited")
        // Translators: the state of an account: the keyring is locked, which stores the passwords.
        case .locked: tr("locked")
        // Translators: the state of an account.
        case .needsLogin: tr("needs-login")
        case .failed: tr("failed")
        case .loggedOut: tr("logged-out")
        }
    }
}
