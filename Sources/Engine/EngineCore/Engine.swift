package import EngineModel
internal import Feeds
internal import Images
internal import Likes
internal import OAuth
package import ProviderKit
internal import Services
package import SlideshowCore
package import Storage
internal import Translation

/// The accounts, their photos, and the parts that they share.
///
/// The engine contains no names of services, does not use a bus, and opens no files except its stores and caches.
package final class Engine {
    package internal(set) var providers: [any Provider]
    package private(set) lazy var accounts = AccountList(self)
    /// A Boolean value that indicates whether the network is considered available.
    package private(set) var isOnline = true
    /// True if the network connection is metered: then only data that clients request is fetched.
    package var isMetered = false {
        didSet {
            guard isMetered != oldValue else { return }
            updateFeedWatches()
            for slideshow in slideshows.all { slideshow.conditionsChanged() }
        }
    }
    /// The interval between refreshes of a watched source; nil if watched sources are not refreshed.
    package internal(set) var refreshInterval: Duration? = Engine.defaultRefreshInterval
    /// The observers, in the order in which they were added. The references are weak.
    var observers: [() -> (any EngineObserver)?] = []
    /// The events that have not reached all observers yet, the current one first.
    var pendingEvents: [EngineEvent] = []
    /// Called when the session of an account begins whose token is in the keyring.
    package var onRemoteSession: (() -> Void)?
    let ports: EnginePorts
    /// The accounts with a password in the secret store that is to be revoked.
    var storedRevocations: Set<AccountID> = []
    private(set) lazy var revocations = TokenRevocations(clock: ports.clock, logger: ports.logger)
    package private(set) lazy var logins = LoginList(self)
    private(set) lazy var transfers = RetainedList<Transfer>(ports.clock) { [unowned self] in
        emit(.transferRemoved($0))
    }
    private(set) lazy var sealedImages = SealedImages(clock: ports.clock)
    private(set) lazy var notifications = Notifications(self, ports.notificationPresenter)
    package private(set) lazy var slideshows = Slideshows(self, slideshowStore, storedSlideshows)
    private let slideshowStore: SlideshowStore
    private var storedSlideshows: SlideshowStore.Contents
    let store: AccountStore
    /// The recipients of tokens to which users agreed with their last login.
    var tokenRecipients: [AccountID: Set<String>]
    /// The data that can be fetched again.
    private let cache: Store
    let stores: RemoteStores
    private var isCheckingAvatars = false
    private var keepsSecretsConnection = false
    var knownSettings: [String: ProviderSettings] = [:]
    /// The sentences about lines of the configuration without effect.
    package var configurationNotices: [String] = [] {
        didSet { if configurationNotices != oldValue { emit(.changed) } }
    }
    /// The sentences for the user about problems that belong to no account.
    package var notices: [String] { configurationNotices + store.notices.map(\.translated) }
    /// The default sources of providers whose photos are cached, also of those that are no longer installed.
    var defaultSources: [String: SourceID]
    /// The feed of all accounts that are logged in.
    package private(set) lazy var combined = CombinedFeed(self, defaultSource: combinedSource)
    /// The stored default source of ``combined``.
    private let combinedSource: SourceID?

    /// The tables of the store of the accounts.
    package nonisolated static let formats = [
        AccountStore.format, OutboxTable.format, SlideshowStore.dataFormat,
    ]
    /// The tables of the cache.
    package nonisolated static let cacheFormats = [FeedStore.format, SlideshowStore.cacheFormat]

    /// - Parameters:
    ///   - providers: The providers.
    ///   - store: The store for accounts.
    ///   - contents: The contents of the store. An account without its provider reports that in its state.
    ///   - slideshowStore: The store of the slideshows. The caller closes it if it is not in the other two stores.
    ///   - slideshows: The contents of that store.
    ///   - cache: A store with ``cacheFormats``.
    ///   - ports: The external dependencies.
    package init(
        providers: [any Provider], store: AccountStore, contents: AccountStore.Contents,
        slideshowStore: SlideshowStore, slideshows: SlideshowStore.Contents, cache: Store,
        ports: EnginePorts
    ) {
        self.slideshowStore = slideshowStore
        storedSlideshows = slideshows
        self.providers = providers
        self.store = store
        self.ports = ports
        combinedSource = contents.combinedSource
        defaultSources = contents.defaultSources
        tokenRecipients = contents.tokenRecipients
        self.cache = cache
        stores = RemoteStores(
            cache: cache, folder: ports.cacheFolder, limitBytes: ports.cacheLimitBytes,
            http: ports.http,
            clock: ports.clock, now: ports.now, logger: ports.logger)
        accounts.restore(contents)
        for provider in providers {
            knownSettings[provider.info.id] = ports.settings(provider.info.id)
        }
        stores.disk.onChange = { [weak self] in self?.reportDisk(isFull: $0) }
        addObserver(notifications)
        for slideshow in self.slideshows.all { addObserver(slideshow) }
        storedSlideshows = SlideshowStore.Contents()
    }

    /// Deletes the cached data of all accounts but those that are logged in. Such data remain if the cache could not be
    /// written at the logout.
    package func deleteCache(besides accounts: Set<AccountID>) async {
        await stores.feeds.forget(besides: accounts)
        await stores.images.forget(besides: accounts)
    }

    /// Starts the sessions of the accounts that are logged in.
    package func start() {
        if !store.notices.isEmpty { storeChanged() }
        for account in accounts.all {
            account.startSession()
            if !account.isLoggedIn { Task { try? await account.refreshProfile() } }
        }
        updateSecretsConnection()
        resumeRevocations()
        slideshows.start()
    }

    /// Keeps the connection to the keyring open while an account or an unfinished login may have a secret in it.
    func updateSecretsConnection() {
        let isNeeded =
            accounts.all.contains { $0.isLoggedIn && Self.mayHaveSecret($0.provider) }
            || logins.all.contains { !$0.hasEnded && Self.mayHaveSecret($0.provider) }
        guard isNeeded != keepsSecretsConnection else { return }
        keepsSecretsConnection = isNeeded
        ports.secrets.keepConnection(isNeeded)
    }

    /// Returns true if an account may have a token or a key, also if its provider is no longer installed.
    static func mayHaveSecret(_ provider: any Provider) -> Bool {
        // A cast that fails looks for types of Foundation, once.
        if case .none = provider.loginMethod {
            type(of: provider) == UnusableProvider.self
        } else {
            true
        }
    }

    /// Ends all sessions and closes the stores. Blocks until all data is written.
    ///
    /// - Parameter onSaved: Called when the store of the accounts is closed, before the cache is closed, whose disk may not
    ///   respond.
    package func stop(onSaved: () -> Void = {}) {
        transfers.stop("The daemon is shutting down.")
        notifications.stop()
        slideshows.stop()
        revocations.stop()
        for account in accounts.all { account.endSession() }
        store.close()
        onSaved()
        cache.close()
    }

    /// Releases memory that serves only to speed up the next request. Call it after some time without requests.
    package func releaseMemory() async {
        await cache.closeFile()
        await store.releaseMemory()
    }

    /// Checks in a second that the files of the avatars exist.
    ///
    /// The user may delete the cache at any time. A lost avatar is removed from its profile and fetched again. Calls
    /// while a check is due have no effect, so a check is not more frequent than once a second.
    package func checkAvatars() {
        guard !isCheckingAvatars, accounts.all.contains(where: { !$0.profile.avatar.isEmpty })
        else { return }
        isCheckingAvatars = true
        Task {
            try? await ports.clock.sleep(for: .seconds(1))
            isCheckingAvatars = false
            let paths = Set(accounts.all.map(\.profile.avatar)).subtracting([""])
            let lost = await stores.images.unreadable(paths)
            for account in accounts.all where lost.contains(account.profile.avatar) {
                Task { await account.handleLostAvatar() }
            }
        }
    }

    /// Updates the availability of the network.
    package func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        emit(.changed)
        if isOnline { retryNow() }
        updateFeedWatches()
    }

    /// Retries failed requests of all accounts, because the network or the keyring became available.
    package func retryNow() {
        for account in accounts.all { account.service?.retryNow() }
        revocations.retryNow()
        resumeRevocations()
    }

    /// Retries failed requests, because the machine is on another network.
    package func networkChanged() {
        if isOnline { retryNow() }
    }

    /// Restarts the timers after a suspend, during which they did not run.
    package func resumed() {
        for account in accounts.all {
            account.photos?.resumed()
            account.feedWatch.resumed()
        }
        for slideshow in slideshows.all { slideshow.resumed() }
    }

    /// Restarts the sessions of a provider's accounts, because its settings changed.
    package func restartSessions(of provider: String) {
        let accounts = accounts.all.filter { $0.provider.info.id == provider && $0.isLoggedIn }
        for account in accounts { account.endSession() }
        for account in accounts {
            account.startSession()
            account.announceSession()
        }
    }

    /// Applies the changed configuration: restarts the sessions of providers whose settings changed. The provider of
    /// folders applies its settings itself.
    package func settingsChanged() {
        for provider in providers where provider.folder == nil {
            let settings = ports.settings(provider.info.id)
            guard knownSettings.updateValue(settings, forKey: provider.info.id) != settings else {
                continue
            }
            restartSessions(of: provider.info.id)
            emit(.providerChanged(provider))
        }
    }

    package func provider(_ id: String) -> (any Provider)? { providers.first { $0.info.id == id } }

    /// Returns the accounts whose requests count against the same rate limit.
    func accounts(sharingLimitsOf account: Account) -> [Account] {
        let settings = ports.settings(account.provider.info.id)
        let oauth = try? account.provider.loginMethod.oauthDescription(
            settings, server: account.identity.server)
        guard oauth?.countsPerApplication == true else { return [account] }
        return accounts.all.filter { other in
            other.provider.info.id == account.provider.info.id && other.isLoggedIn
                && other.identity.server == account.identity.server
        }
    }
}
