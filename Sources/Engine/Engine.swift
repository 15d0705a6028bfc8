internal import OAuth
package import ProviderKit
internal import Quoting

/// The accounts, and what can be done with them.
///
/// Knows no service by name, no bus, and no file but the account store.
package final class Engine {
    package internal(set) var providers: [any Provider]
    /// In the order of their first login.
    package private(set) var accounts: [Account] = []
    package private(set) var defaultAccount: Account?
    /// Whether the network is believed to be there.
    package private(set) var isOnline = true
    /// Whether what goes over the network has to be paid for: nothing is fetched that nobody asks for.
    package var isMetered = false {
        didSet { if isMetered != oldValue { updateFeedWatches() } }
    }
    /// The interval between refreshes of a watched source; nil if watched sources are not refreshed.
    package internal(set) var refreshInterval: Duration? = Engine.defaultRefreshInterval
    package weak var observer: (any EngineObserver)?
    /// Called when the session of an account begins whose token is in the keyring.
    package var onRemoteSession: (() -> Void)?
    let ports: EnginePorts
    private(set) lazy var revocations = TokenRevocations(clock: ports.clock, logger: ports.logger)
    package private(set) lazy var logins = LoginList(self)
    private(set) lazy var transfers = TransferList(self)
    private(set) lazy var sealedImages = SealedImages(clock: ports.clock)
    private(set) lazy var notices = Notices(self, ports.noticeBoard)
    let store: AccountStore
    /// The recipients of tokens to which users agreed with their last login.
    var tokenRecipients: [AccountID: Set<String>]
    let stores: RemoteStores
    private let changes = ChangeQueue()
    private var isCheckingAvatars = false
    private var keepsSecretsConnection = false
    private var knownSettings: [String: ProviderSettings] = [:]
    /// The default sources of providers whose photos are cached, also of those that are not installed any more.
    var defaultSources: [String: SourceID]
    /// What the file of accounts is called now, if it was damaged.
    private let damagedFile: String?

    /// - Parameters:
    ///   - providers: What can be logged in to.
    ///   - store: Where accounts are kept.
    ///   - contents: What the store held. An account whose provider is not there says so.
    ///   - ports: The world.
    package init(
        providers: [any Provider], store: AccountStore, contents: AccountStore.Contents,
        ports: EnginePorts
    ) {
        self.providers = providers
        self.store = store
        self.ports = ports
        damagedFile = contents.damagedFile
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
    }

    /// Starts the sessions of the accounts that are logged in.
    package func start() {
        if let damagedFile { noteDamage(damagedFile) }
        stores.disk.onChange = { [weak self] in self?.noteDisk(isFull: $0) }
        for account in accounts {
            account.startSession()
            if !account.isLoggedIn { Task { try? await account.refreshProfile() } }
        }
        updateSecretsConnection()
    }

    /// Keeps the connection to the keyring while an account or an unfinished login may have a secret in it.
    func updateSecretsConnection() {
        let isNeeded =
            accounts.contains { $0.isLoggedIn && Self.mayHaveSecret($0.provider) }
            || logins.all.contains { !$0.hasEnded && Self.mayHaveSecret($0.provider) }
        guard isNeeded != keepsSecretsConnection else { return }
        keepsSecretsConnection = isNeeded
        ports.secrets.keepConnection(isNeeded)
    }

    private static func mayHaveSecret(_ provider: any Provider) -> Bool {
        isRemote(provider) || provider is any KeyLogin || provider is UnusableProvider
    }

    /// Ends all sessions, and closes the store. Blocks until everything is on the disk.
    package func stop() {
        transfers.stop("The daemon was told to end.")
        notices.stop()
        revocations.stop()
        for account in accounts { account.endSession() }
        store.close()
        stores.feeds.close()
    }

    /// Gives back what only speeds up the next request, once there has been none for a while.
    package func releaseMemory() async {
        await stores.feeds.rest()
        await store.releaseMemory()
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
                Task { await account.avatarLost() }
            }
        }
    }

    /// Takes note of the network's coming or going.
    package func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        observer?.engineChanged()
        if isOnline { tryAgain() }
        updateFeedWatches()
    }

    /// Lets accounts go on that something has stood in the way of: the network, the keyring.
    package func tryAgain() {
        for account in accounts { account.remote?.tryAgain() }
        revocations.tryAgain()
    }

    /// Retries what failed, because the machine is on another network.
    package func networkChanged() {
        if isOnline { tryAgain() }
    }

    /// Goes on after the machine has slept: pauses have slept, too.
    package func resumed() {
        for account in accounts {
            account.remote?.resumed()
            account.feedWatch.resumed()
        }
    }

    /// Ends the sessions of a provider's accounts and makes new ones, after its settings have changed.
    package func restartSessions(of provider: String) {
        let accounts = accounts.filter { $0.provider.info.id == provider && $0.isLoggedIn }
        for account in accounts { account.endSession() }
        for account in accounts {
            account.startSession()
            observer?.accountChanged(account, .session)
        }
    }

    /// Lets what has changed in the configuration count: accounts whose provider has other settings begin anew.
    package func settingsChanged() {
        for provider in providers where Self.isRemote(provider) {
            let settings = ports.settings.settings(of: provider.info.id)
            guard knownSettings.updateValue(settings, forKey: provider.info.id) != settings else {
                continue
            }
            restartSessions(of: provider.info.id)
            observer?.providerChanged(provider)
        }
    }

    package func provider(_ id: String) -> (any Provider)? {
        providers.first { $0.info.id == id }
    }

    package func account(_ id: AccountID) -> Account? { accounts.first { $0.id == id } }

    // MARK: Logging in

    /// Creates the account of a user who has just logged in, or logs a known account in again.
    ///
    /// - Parameters:
    ///   - identity: The identity of the user.
    ///   - provider: The provider at which the user logged in.
    ///   - expected: The known account that is logged in again; nil to find it by the identity.
    ///   - token: The token to store in the secret store; nil if there is none.
    ///   - isWanted: Called when everything is stored. If it returns false, nothing remains of the login.
    /// - Returns: The account, which is logged in.
    /// - Throws: `CancellationError` if the login is not wanted any more; the errors of the stores.
    func completeLogin(
        _ identity: AccountIdentity, _ provider: any Provider, as expected: Account? = nil,
        with token: OAuthToken? = nil, while isWanted: () -> Bool
    ) async throws -> Account {
        try await changes.run {
            let known =
                accounts.first { $0 === expected } ?? account(identity, of: provider)
            let id =
                known?.id
                ?? AccountID(provider: provider.info.id, identity) { self.account($0) != nil }
            let wasLoggedIn = known?.isLoggedIn == true
            let replaced = token == nil ? nil : await storedToken(of: known, id)
            // The secret first, the account after: there is none without its token.
            if let token {
                try await keep(token, of: id, identity, provider)
                notices.heal(.tokenRemains, about: .account(id))
            }
            do {
                let held = token.map { Credentials.HeldToken(token: $0) }
                let account: Account
                if let known {
                    if !wasLoggedIn { known.heldToken = held }
                    try await change(known, while: isWanted) {
                        $0.update(identity)
                        $0.isLoggedIn = true
                    }
                    guard isWanted() || wasLoggedIn else { throw CancellationError() }
                    if let token { known.remote?.adopt(token) }
                    account = known
                } else {
                    account = try await add(id, identity, provider, held, while: isWanted)
                }
                if let replaced {
                    revoke(replaced, of: provider, at: identity.server, user: identity)
                }
                return account
            } catch {
                if !wasLoggedIn { known?.heldToken = nil }
                // The caller revokes the new token.
                if let replaced, wasLoggedIn {
                    try? await keep(replaced, of: id, identity, provider)
                } else if token != nil {
                    try? await ports.secrets.delete(.account(id.text))
                }
                throw error
            }
        }
    }

    private func keep(
        _ token: OAuthToken, of id: AccountID, _ identity: AccountIdentity,
        _ provider: any Provider
    ) async throws {
        try await ports.secrets.store(
            token.encoded, for: .account(id.text), label: Self.secretLabel(identity, provider))
        try await storeTokenRecipients(of: provider, for: id)
    }

    /// What a person reads in a keyring manager.
    static func secretLabel(
        _ identity: AccountIdentity, _ provider: any Provider
    ) -> String {
        let service = identity.server.isEmpty ? provider.info.name : identity.server
        return "Image Feed: \(identity.username) at \(service)"
    }

    private func add(
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
        observer?.accountAdded(account)
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

    /// The accounts whose requests count together at their service.
    func accounts(sharingLimitsOf account: Account) -> [Account] {
        guard description(of: account)?.countsPerApplication == true else { return [account] }
        return accounts.filter { other in
            other.provider.info.id == account.provider.info.id && other.isLoggedIn
                && other.identity.server == account.identity.server
        }
    }

    // MARK: Logging out

    /// Logs an account out; it stays known. One that is logged out already stays so.
    package func logOut(_ account: Account) async throws {
        // Whoever is asked to unlock the keyring may take their time: nobody else waits for that.
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

    /// Deletes what is kept of an account, then does `change`; transfers are stopped for `reason`.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - reason: The reason, for the transfers.
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
            // First: if this fails, nothing has changed.
            try await remote?.discardToken()
        }
        transfers.stop(of: account, reason)
        do {
            try await remote?.forget()
            try await change()
        } catch {
            guard remote != nil else { throw error }
            // An account without its token, which says so, and not one that is half closed.
            account.endSession()
            account.startSession()
            observer?.accountChanged(account, .session)
            throw error
        }
    }

    /// Logs an account out and forgets it; a user whom the provider keeps is deleted.
    ///
    /// If the keyring is missing or does not work, the token remains there. The observer and a notification report
    /// that.
    package func remove(_ account: Account) async throws {
        do {
            try await account.remote?.unlockToForget()
            try await remove(account, isTokenAbandoned: false)
        } catch let error as SecretStoreError where error.isStoreGone {
            try await remove(account, isTokenAbandoned: true)
            noteRemainingToken(of: account)
        }
    }

    private func remove(_ account: Account, isTokenAbandoned: Bool) async throws {
        try await changes.run {
            try checkKnown(account)
            let newDefault = defaultAccount === account ? successor(of: account) : defaultAccount
            try await forget(
                account, "The account was removed.", isTokenAbandoned: isTokenAbandoned
            ) {
                // First: if the account cannot be forgotten then, trying again does it.
                if let provider = account.provider as? any PasswordLogin {
                    try await provider.removeUser(account.identity)
                }
                try await store.delete(account.id, defaultAccount: newDefault?.id)
                tokenRecipients[account.id] = nil
            }
            account.endSession()
            notices.healAll(about: .account(account.id))
            accounts.removeAll { $0 === account }
            updateSecretsConnection()
            if isTokenAbandoned { observer?.tokenRemains(account, remainingTokenMessage(account)) }
            observer?.accountRemoved(account)
            becomeDefault(newDefault)
            await logins.registrations.deleteIfUnused(by: account)
        }
    }

    /// Stores a change of an account's record, then lets it count.
    func update(_ account: Account, _ change: (inout AccountRecord) -> Void) async throws {
        try await changes.run { try await self.change(account, change) }
    }

    /// Does the work of ``update(_:_:)``. Takes the change back if it is not wanted once it is stored.
    private func change(
        _ account: Account, while isWanted: () -> Bool = { true },
        _ change: (inout AccountRecord) -> Void
    ) async throws {
        try checkKnown(account)
        var record = account.record
        change(&record)
        guard record != account.record else { return }
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
        observer?.accountChanged(account, change)
        becomeDefault(newDefault)
    }

    /// Fails for an account that was removed while the caller waited for its turn.
    private func checkKnown(_ account: Account) throws {
        guard accounts.contains(where: { $0 === account }) else {
            throw EngineError.notFound("The account \(account.id) has been removed.")
        }
    }

    // MARK: The default account

    /// Chooses the account for callers that name none.
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

    /// The earliest other account that is logged in.
    private func successor(of account: Account) -> Account? {
        accounts.first { $0 !== account && $0.isLoggedIn }
    }

    private func becomeDefault(_ account: Account?) {
        guard account !== defaultAccount else { return }
        defaultAccount = account
        observer?.engineChanged()
    }
}
