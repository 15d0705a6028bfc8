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
    package static let manager: InterfaceName = "org.imagefeed.ImageFeed1.Manager"
    package static let provider: InterfaceName = "org.imagefeed.ImageFeed1.Provider"
    package static let login: InterfaceName = "org.imagefeed.ImageFeed1.Login"
    package static let account: InterfaceName = "org.imagefeed.ImageFeed1.Account"
    package static let feed: InterfaceName = "org.imagefeed.ImageFeed1.Feed"
    package static let like: InterfaceName = "org.imagefeed.ImageFeed1.Like"
    package static let profile: InterfaceName = "org.imagefeed.ImageFeed1.Profile"
    package static let combined: InterfaceName = "org.imagefeed.ImageFeed1.Combined"
    package static let slideshow: InterfaceName = "org.imagefeed.ImageFeed1.Slideshow"
    package static let transfer: InterfaceName = "org.imagefeed.ImageFeed1.Transfer"

    /// The versions of the interfaces whose version is not 1. A release with additions to an interface increases it.
    private static let versions: [InterfaceName: UInt32] = [:]

    /// The version of an interface of the contract.
    package var version: UInt32 { Self.versions[self] ?? 1 }

    /// The constant property that contains ``version``. `Manager.Version` is the version of the daemon.
    package var versionProperty: MemberName {
        self == .manager ? "InterfaceVersion" : "Version"
    }
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
