internal import OAuth
package import ProviderKit
internal import Quoting

/// The accounts, and the operations on them.
///
/// The engine contains no names of services, does not use a bus, and opens no files except the account store.
package final class Engine {
    package internal(set) var providers: [any Provider]
    /// The accounts, in the order of their first login.
    package private(set) var accounts: [Account] = []
    package private(set) var defaultAccount: Account?
    /// A Boolean value that indicates whether the network is considered available.
    package private(set) var isOnline = true
    /// True if the network connection is metered: then only data that clients request is fetched.
    package var isMetered = false {
        didSet {
            guard isMetered != oldValue else { return }
            updateFeedWatches()
            slideshow.conditionsChanged()
        }
    }
    /// The interval between refreshes of a watched source; nil if watched sources are not refreshed.
    package internal(set) var refreshInterval: Duration? = Engine.defaultRefreshInterval
    var observers = EngineObservers()
    /// Called when the session of an account begins whose token is in the keyring.
    package var onRemoteSession: (() -> Void)?
    let ports: EnginePorts
    private(set) lazy var revocations = TokenRevocations(clock: ports.clock, logger: ports.logger)
    package private(set) lazy var logins = LoginList(self)
    private(set) lazy var transfers = TransferList(self)
    private(set) lazy var sealedImages = SealedImages(clock: ports.clock)
    private(set) lazy var notifications = Notifications(self, ports.notificationPresenter)
    /// The photo that is shown now, shared by all clients.
    package private(set) lazy var slideshow = Slideshow(
        slideshowStore.store, slideshowStore.contents, EngineSlideshowPhotos(self),
        clock: ports.clock, logger: ports.logger)
    private let slideshowStore: (store: SlideshowStore, contents: SlideshowStore.Contents)
    let store: AccountStore
    /// The recipients of tokens to which users agreed with their last login.
    var tokenRecipients: [AccountID: Set<String>]
    let stores: RemoteStores
    let changes = ChangeQueue()
    private var isCheckingAvatars = false
    private var keepsSecretsConnection = false
    private var knownSettings: [String: ProviderSettings] = [:]
    /// The default sources of providers whose photos are cached, also of those that are no longer installed.
    var defaultSources: [String: SourceID]
    /// The feed of all accounts that are logged in.
    package private(set) lazy var combined = CombinedFeed(self, defaultSource: combinedSource)
    /// The stored default source of ``combined``.
    private let combinedSource: SourceID?
    /// The new path of the account database, if the file was damaged.
    private let damagedFile: String?

    /// - Parameters:
    ///   - providers: The providers.
    ///   - store: The store for accounts.
    ///   - contents: The contents of the store. An account without its provider reports that in its state.
    ///   - slideshow: The store for the slideshow, and its contents; nil to forget the slideshow with the engine.
    ///   - ports: The external dependencies.
    package init(
        providers: [any Provider], store: AccountStore, contents: AccountStore.Contents,
        slideshow: (store: SlideshowStore, contents: SlideshowStore.Contents)? = nil,
        ports: EnginePorts
    ) {
        slideshowStore = slideshow ?? (.inMemory(), SlideshowStore.Contents())
        self.providers = providers
        self.store = store
        self.ports = ports
        damagedFile = contents.damagedFile
        combinedSource = contents.combinedSource
        defaultSources = contents.defaultSources
        tokenRecipients = contents.tokenRecipients
        stores = RemoteStores(ports, store)
        accounts = contents.accounts.map { record in
            Account(
                record, provider(record.provider) ?? Self.missing(record.provider),
                pendingLikes: contents.pendingLikes[record.id] ?? [], in: self)
        }
        defaultAccount = accounts.first { $0.id == contents.defaultAccount }
        for provider in providers {
            knownSettings[provider.info.id] = ports.settings.settings(of: provider.info.id)
        }
        stores.disk.onChange = { [weak self] in self?.reportDisk(isFull: $0) }
        addObserver(notifications)
        addObserver(self.slideshow)
    }

    /// Starts the sessions of the accounts that are logged in.
    package func start() {
        if let damagedFile { reportDamagedAccounts(damagedFile) }
        for account in accounts {
            account.startSession()
            if !account.isLoggedIn { Task { try? await account.refreshProfile() } }
        }
        updateSecretsConnection()
        slideshow.start()
    }

    /// Keeps the connection to the keyring open while an account or an unfinished login may have a secret in it.
    func updateSecretsConnection() {
        let isNeeded =
            accounts.contains { $0.isLoggedIn && Self.mayHaveSecret($0.provider) }
            || logins.all.contains { !$0.hasEnded && Self.mayHaveSecret($0.provider) }
        guard isNeeded != keepsSecretsConnection else { return }
        keepsSecretsConnection = isNeeded
        ports.secrets.keepConnection(isNeeded)
    }

    private static func mayHaveSecret(_ provider: any Provider) -> Bool {
        if case .key = provider.loginMethod { return true }
        return isRemote(provider) || provider is UnusableProvider
    }

    /// Ends all sessions and closes the store. Blocks until all data is written.
    package func stop() {
        transfers.stop("The daemon is shutting down.")
        notifications.stop()
        slideshow.stop()
        revocations.stop()
        for account in accounts { account.endSession() }
        store.close()
        stores.feeds.close()
    }

    /// Releases memory that only speeds up the next request. Call it after a while without requests.
    package func releaseMemory() async {
        await stores.feeds.trimMemory()
        await store.releaseMemory()
        await slideshow.store.releaseMemory()
    }

    /// Checks in a second that the files of the avatars exist.
    ///
    /// The user may delete the cache at any time. A lost avatar is removed from its profile and fetched again. Calls
    /// while a check is due have no effect, so a check is not more frequent than once a second.
    package func checkAvatars() {
        guard !isCheckingAvatars, accounts.contains(where: { !$0.profile.avatar.isEmpty }) else {
            return
        }
        isCheckingAvatars = true
        Task {
            try? await ports.clock.sleep(for: .seconds(1))
            isCheckingAvatars = false
            let paths = Set(accounts.map(\.profile.avatar)).subtracting([""])
            let lost = await stores.images.unreadable(paths)
            for account in accounts where lost.contains(account.profile.avatar) {
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
        for account in accounts { account.remote?.retryNow() }
        revocations.retryNow()
    }

    /// Retries failed requests, because the machine is on another network.
    package func networkChanged() {
        if isOnline { retryNow() }
    }

    /// Restarts the timers after a suspend, during which they did not run.
    package func resumed() {
        for account in accounts {
            account.remote?.resumed()
            account.feedWatch.resumed()
            account.datedSession?.clockChanged()
        }
        slideshow.resumed()
    }

    /// Restarts the sessions of a provider's accounts, because its settings changed.
    package func restartSessions(of provider: String) {
        let accounts = accounts.filter { $0.provider.info.id == provider && $0.isLoggedIn }
        for account in accounts { account.endSession() }
        for account in accounts {
            account.startSession()
            emit(.changed(.session), of: account)
        }
    }

    /// Applies the changed configuration: restarts the sessions of providers whose settings changed.
    package func settingsChanged() {
        for provider in providers where Self.isRemote(provider) {
            let settings = ports.settings.settings(of: provider.info.id)
            guard knownSettings.updateValue(settings, forKey: provider.info.id) != settings else {
                continue
            }
            restartSessions(of: provider.info.id)
            emit(.providerChanged(provider))
        }
    }

    package func provider(_ id: String) -> (any Provider)? {
        providers.first { $0.info.id == id }
    }

    package func account(_ id: AccountID) -> Account? { accounts.first { $0.id == id } }

    // MARK: Login

    /// Stores and adds the account of a new user, unless it is no longer wanted.
    func add(
        _ id: AccountID, _ identity: AccountIdentity, _ provider: any Provider,
        _ token: Credentials.HeldToken?, while isWanted: () -> Bool
    ) async throws -> Account {
        let record = AccountRecord(
            id: id, provider: provider.info.id, identity: identity, label: identity.username,
            isLoggedIn: true)
        let account = Account(record, provider, in: self)
        let newDefault = defaultAccount ?? account
        try await store.save(record, defaultAccount: newDefault.id)
        guard isWanted() else {
            try await store.delete(id, defaultAccount: defaultAccount?.id)
            throw CancellationError()
        }
        accounts.append(account)
        account.heldToken = token
        account.startSession()
        updateSecretsConnection()
        emit(.accountAdded(account))
        becomeDefault(newDefault)
        return account
    }

    /// Returns the account of a user, if there is one.
    ///
    /// An account with the same user ID precedes an account without an ID that has the same user name. Of two accounts
    /// of one user, which earlier versions could create, a logged-in account precedes.
    func account(_ identity: AccountIdentity, of provider: any Provider) -> Account? {
        let known = accounts.filter {
            $0.provider.info.id == provider.info.id && $0.identity.isSameUser(as: identity)
        }
        let identified = known.filter { $0.identity.userID != nil }
        return identified.first { $0.isLoggedIn } ?? identified.first ?? known.first
    }

    /// Returns the accounts whose requests count against the same rate limit.
    func accounts(sharingLimitsOf account: Account) -> [Account] {
        guard description(of: account)?.countsPerApplication == true else { return [account] }
        return accounts.filter { other in
            other.provider.info.id == account.provider.info.id && other.isLoggedIn
                && other.identity.server == account.identity.server
        }
    }

    // MARK: Logout

    /// Logs an account out. The account remains known. Has no effect on an account that is logged out.
    package func logOut(_ account: Account) async throws {
        // The prompt of the keyring is outside of the queue, so that other changes do not wait for the user.
        do {
            try await account.remote?.unlockToForget()
            try await changes.run {
                try checkKnown(account)
                try await forget(account, "The account was logged out.") {
                    try await change(account) { $0.isLoggedIn = false }
                }
            }
        } catch let error as SecretStoreError where error.isStoreGone {
            throw SecretStoreError.unavailable(
                "\(error.message.dropLast()); without the keyring, the account can only be removed."
            )
        }
    }

    /// Deletes the data of an account, then performs `change`. Its transfers are stopped.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - reason: The reason for stopping the transfers.
    ///   - isTokenAbandoned: True if the token is not deleted, because that is impossible.
    ///   - change: Stores the new state.
    /// - Throws: The error of a store.
    private func forget(
        _ account: Account, _ reason: String, isTokenAbandoned: Bool = false,
        _ change: () async throws -> Void
    ) async throws {
        let remote = account.remote
        if isTokenAbandoned {
            await remote?.abandonToken()
        } else {
            // This is first because its failure leaves everything unchanged.
            try await remote?.discardToken()
        }
        transfers.stop(of: account, reason)
        do {
            try await remote?.forget()
            try await change()
        } catch {
            guard remote != nil else { throw error }
            // The session is restarted without a token, which the account reports; it is not left half closed.
            account.endSession()
            account.startSession()
            emit(.changed(.session), of: account)
            throw error
        }
    }

    /// Logs an account out and deletes it. A provider that stores its users deletes the user as well.
    ///
    /// If the keyring is missing or does not work, the token remains there. An event and a notification report that.
    package func remove(_ account: Account) async throws {
        do {
            try await account.remote?.unlockToForget()
            try await remove(account, isTokenAbandoned: false)
        } catch let error as SecretStoreError where error.isStoreGone {
            try await remove(account, isTokenAbandoned: true)
            reportRemainingToken(of: account)
        }
    }

    private func remove(_ account: Account, isTokenAbandoned: Bool) async throws {
        try await changes.run {
            try checkKnown(account)
            let newDefault = defaultAccount === account ? successor(of: account) : defaultAccount
            try await forget(
                account, "The account was removed.", isTokenAbandoned: isTokenAbandoned
            ) {
                // The user is deleted first: if deleting the account then fails, the caller can repeat the call.
                if case .password(let provider) = account.provider.loginMethod {
                    try await provider.removeUser(account.identity)
                }
                try await store.delete(account.id, defaultAccount: newDefault?.id)
                tokenRecipients[account.id] = nil
            }
            account.endSession()
            notifications.resolveAll(about: .account(account.id))
            accounts.removeAll { $0 === account }
            updateSecretsConnection()
            if isTokenAbandoned {
                emit(.tokenRemains(remainingTokenMessage(account)), of: account)
            }
            emit(.accountRemoved(account))
            becomeDefault(newDefault)
            await logins.registrations.deleteIfUnused(by: account)
        }
    }

    /// Stores a change of an account's record, then applies it.
    func update(_ account: Account, _ change: (inout AccountRecord) -> Void) async throws {
        try await changes.run { try await self.change(account, change) }
    }

    /// Performs ``update(_:_:)``. Restores the record if the change is no longer wanted once it is stored.
    func change(
        _ account: Account, while isWanted: () -> Bool = { true },
        _ change: (inout AccountRecord) -> Void
    ) async throws {
        try checkKnown(account)
        var record = account.record
        change(&record)
        guard record != account.record else { return }
        if record.isLoggedIn, !account.isLoggedIn {
            record.loginNumber = .random(in: 1 ... .max)
        }
        let newDefault =
            switch (account.isLoggedIn, record.isLoggedIn) {
            case (false, true): defaultAccount ?? account
            case (true, false) where defaultAccount === account: successor(of: account)
            default: defaultAccount
            }
        try await store.save(record, defaultAccount: newDefault?.id)
        guard isWanted() else {
            try await store.save(account.record, defaultAccount: defaultAccount?.id)
            return
        }
        if !record.isLoggedIn { transfers.stop(of: account, "The account was logged out.") }
        let change = record.isLoggedIn == account.isLoggedIn ? AccountChange.settings : .session
        account.adopt(record)
        emit(.changed(change), of: account)
        becomeDefault(newDefault)
    }

    /// Throws if the account was removed while the caller waited in the queue.
    private func checkKnown(_ account: Account) throws {
        guard accounts.contains(where: { $0 === account }) else {
            throw EngineError.notFound("The account \(account.id) has been removed.")
        }
    }

    // MARK: The default account

    /// Sets the default account, which is used for calls that name no account.
    package func setDefaultAccount(_ account: Account?) async throws {
        try await changes.run {
            if let account {
                try checkKnown(account)
                guard account.isLoggedIn else {
                    throw EngineError.needsLogin(
                        "\(account.label.excerpt) is logged out; log in first.")
                }
            }
            try await store.saveDefaultAccount(account?.id)
            becomeDefault(account)
        }
    }

    /// Returns the account that becomes the default: the first other account that is logged in.
    private func successor(of account: Account) -> Account? {
        accounts.first { $0 !== account && $0.isLoggedIn }
    }

    private func becomeDefault(_ account: Account?) {
        guard account !== defaultAccount else { return }
        defaultAccount = account
        emit(.changed)
    }
}
