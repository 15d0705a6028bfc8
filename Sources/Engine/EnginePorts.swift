package import Logging
package import ProviderKit
internal import System

/// The world as the engine is handed it.
package struct EnginePorts {
    package let http: any HTTPClient
    package let secrets: any SecretStore
    package let settings: any SettingsStore
    /// Where photos of remote accounts are cached; may be deleted at any time.
    package let cacheFolder: String
    /// How many bytes of images are kept.
    package let cacheLimitBytes: Int
    package let logger: Logger
    package let clock: any Clock<Duration>
    package let now: () -> Timestamp
    /// Where the user is told of troubles; nil for nowhere.
    package let noticeBoard: (any NotificationPresenter)?
    /// Shows an address in the user's browser, which an activation token lets come to the front.
    package let openURL: (_ address: String, _ activationToken: String) async throws -> Void

    package init(
        http: any HTTPClient, secrets: any SecretStore, settings: any SettingsStore,
        cacheFolder: String, cacheLimitBytes: Int, logger: Logger,
        clock: any Clock<Duration> = MainLoopClock(), now: @escaping () -> Timestamp = { .now },
        noticeBoard: (any NotificationPresenter)? = nil,
        openURL: @escaping (String, String) async throws -> Void = { _, _ in
            throw EngineError.notSupported("There is no browser here.")
        }
    ) {
        self.http = http
        self.secrets = secrets
        self.settings = settings
        self.cacheFolder = cacheFolder
        self.cacheLimitBytes = cacheLimitBytes
        self.logger = logger
        self.clock = clock
        self.now = now
        self.noticeBoard = noticeBoard
        self.openURL = openURL
    }
}

/// Where the settings of providers are kept, other than secrets.
package protocol SettingsStore: AnyObject {
    func settings(of provider: String) -> ProviderSettings

    /// Stores a setting, and uses it from now on.
    ///
    /// - Throws: What a person can act on.
    func set(_ value: String, for key: String, of provider: String) async throws
}

/// Where remote accounts keep what is theirs.
struct RemoteStores {
    let feeds: FeedStore
    let images: ImageStore
    let disk: DiskWatch
    let probes = HostProbes()
    private let accounts: AccountStore

    init(_ ports: EnginePorts, _ accounts: AccountStore) {
        disk = DiskWatch(folder: ports.cacheFolder)
        feeds = FeedStore(folder: ports.cacheFolder, disk: disk, logger: ports.logger)
        images = ImageStore(
            folder: "\(ports.cacheFolder)/images", limitBytes: ports.cacheLimitBytes,
            disk: disk, http: ports.http, now: ports.now)
        self.accounts = accounts
    }

    func likes(of account: AccountID) -> LikeStore { accounts.likes(of: account) }
}
