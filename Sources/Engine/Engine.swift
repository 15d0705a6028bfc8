package import ProviderKit

/// The accounts, and what can be done with them.
///
/// Knows no service by name, no bus, and no file but the account store.
package final class Engine {
    package let providers: [any Provider]
    /// In the order of their first login.
    package private(set) var accounts: [Account] = []
    package private(set) var logins: [Login] = []
    package private(set) var defaultAccount: Account?
    /// Whether the network is believed to be there.
    package private(set) var isOnline = true
    package weak var observer: (any EngineObserver)?
    let clock: any Clock<Duration>
    private let store: AccountStore
    private let changes = ChangeQueue()
    private var lastLoginNumber = 0

    /// - Parameters:
    ///   - providers: What can be logged in to.
    ///   - store: Where accounts are kept.
    ///   - contents: What the store held. An account whose provider is not there is left alone in it.
    ///   - clock: Ends logins that nobody finishes.
    package init(
        providers: [any Provider], store: AccountStore, contents: AccountStore.Contents,
        clock: any Clock<Duration> = MainQueueClock()
    ) {
        self.providers = providers
        self.store = store
        self.clock = clock
        accounts = contents.accounts.compactMap { record in
            provider(record.provider).map { Account(record, $0, in: self) }
        }
        defaultAccount = accounts.first { $0.id == contents.defaultAccount }
    }

    /// Starts the sessions of the accounts that are logged in.
    package func start() {
        for account in accounts { account.startSession() }
    }

    /// Ends all sessions, and closes the store. Blocks until everything is on the disk.
    package func stop() {
        for account in accounts { account.endSession() }
        store.close()
    }

    /// Takes note of the network's coming or going.
    package func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        observer?.engineChanged()
    }

    /// Ends the sessions of a provider's accounts and makes new ones, after its settings have changed.
    package func restartSessions(of provider: String) {
        let accounts = accounts.filter { $0.provider.info.id == provider && $0.isLoggedIn }
        for account in accounts { account.endSession() }
        for account in accounts {
            account.startSession()
            observer?.accountChanged(account)
        }
    }

    package func provider(_ id: String) -> (any Provider)? {
        providers.first { $0.info.id == id }
    }

    package func account(_ id: AccountID) -> Account? { accounts.first { $0.id == id } }

    // MARK: Logging in

    /// Starts a login.
    ///
    /// - Parameters:
    ///   - id: The provider's id.
    ///   - options: What the caller gave.
    /// - Returns: The login, which goes on by itself.
    /// - Throws: ``EngineError/notFound(_:)``, ``EngineError/notSupported(_:)``,
    ///   ``EngineError/invalidArgument(_:)``, ``EngineError/tooManyLogins``. All else is told by the login.
    package func logIn(_ id: String, _ options: LoginOptions) throws -> Login {
        guard let provider = self.provider(id) else {
            throw EngineError.notFound("There is no provider \"\(id)\".")
        }
        var options = options
        if let account = options.account {
            guard account.provider.info.id == id else {
                throw EngineError.invalidArgument("\(account.id) is no account of \(id).")
            }
            options.username = options.username ?? account.identity.username
        }
        guard options.server == nil else {
            throw EngineError.notSupported("\(provider.info.name) has no servers to choose from.")
        }
        guard let passwordLogin = provider as? any PasswordLogin else {
            throw EngineError.notSupported("\(provider.info.name) cannot be logged in to.")
        }
        let request = PasswordLoginRequest(
            username: options.username ?? "", hasPassword: options.hasPassword,
            registers: options.registers)
        try passwordLogin.check(request)
        guard logins.count(where: { !$0.hasEnded }) < Login.maximumUnfinished else {
            throw EngineError.tooManyLogins
        }
        lastLoginNumber += 1
        let login = Login(number: lastLoginNumber, provider, for: options.account, in: self)
        logins.append(login)
        observer?.loginAdded(login)
        login.begin {
            try await passwordLogin.logIn(request)
        } undo: { identity in
            guard request.registers else { return }
            try await passwordLogin.removeUser(identity)
        }
        return login
    }

    /// Makes the account of somebody who has just logged in, or logs a known one in again.
    ///
    /// - Parameters:
    ///   - identity: Who it is.
    ///   - provider: Where they have logged in.
    ///   - isWanted: Asked when all is stored. If it says no, nothing is left of the login.
    /// - Returns: The account, which is logged in.
    /// - Throws: `CancellationError` when the login is not wanted any more; what the store throws.
    func admit(
        _ identity: AccountIdentity, _ provider: any Provider, while isWanted: () -> Bool
    ) async throws -> Account {
        try await changes.run {
            guard let account = account(identity, of: provider) else {
                return try await add(identity, provider, while: isWanted)
            }
            let wasLoggedIn = account.isLoggedIn
            try await change(account, while: isWanted) { $0.isLoggedIn = true }
            guard isWanted() || wasLoggedIn else { throw CancellationError() }
            return account
        }
    }

    private func add(
        _ identity: AccountIdentity, _ provider: any Provider, while isWanted: () -> Bool
    ) async throws -> Account {
        let id = AccountID(provider: provider.info.id, identity) { self.account($0) != nil }
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
        account.startSession()
        observer?.accountAdded(account)
        becomeDefault(newDefault)
        return account
    }

    /// The account of somebody, if there is one.
    func account(_ identity: AccountIdentity, of provider: any Provider) -> Account? {
        accounts.first { $0.provider.info.id == provider.info.id && $0.identity == identity }
    }

    /// Forgets a login that has ended a while ago.
    func forget(_ login: Login) {
        logins.removeAll { $0 === login }
        observer?.loginRemoved(login)
    }

    // MARK: Logging out

    /// Logs an account out; it stays known. One that is logged out already stays so.
    package func logOut(_ account: Account) async throws {
        try await update(account) { $0.isLoggedIn = false }
    }

    /// Logs an account out and forgets it; a user whom the provider keeps is deleted.
    package func remove(_ account: Account) async throws {
        try await changes.run {
            try checkKnown(account)
            // First: if the account cannot be forgotten then, trying again does it.
            if let provider = account.provider as? any PasswordLogin {
                try await provider.removeUser(account.identity)
            }
            let newDefault = defaultAccount === account ? successor(of: account) : defaultAccount
            try await store.delete(account.id, defaultAccount: newDefault?.id)
            account.endSession()
            accounts.removeAll { $0 === account }
            observer?.accountRemoved(account)
            becomeDefault(newDefault)
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
        account.adopt(record)
        observer?.accountChanged(account)
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
                    throw EngineError.needsLogin("\(account.label) is logged out; log in first.")
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
