package import EngineModel
internal import OAuth
internal import ProviderKit
internal import Services
internal import System
internal import Translation

/// The accounts, and the changes of this list.
///
/// Changes are made one at a time, in the order of the calls. A change is stored before it is applied and announced.
package final class AccountList {
    /// The accounts, in the order of their first login.
    package private(set) var all: [Account] = []
    /// The account that is used for calls that name no account.
    package private(set) var defaultAccount: Account?
    /// The changes of accounts, which wait for each other.
    let changes = ChangeQueue()
    private var store: AccountStore { engine.store }
    private unowned let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    /// Adds the stored accounts. Their sessions are not started.
    func restore(_ contents: AccountStore.Contents) {
        all = contents.accounts.map { record in
            Account(
                record, engine.provider(record.provider) ?? Engine.missing(record.provider),
                pendingLikes: contents.pendingLikes[record.id] ?? [], in: engine)
        }
        defaultAccount = contents.defaultAccount.flatMap { self[$0] } ?? all.first { $0.isLoggedIn }
    }

    /// Returns an account; nil if it is unknown.
    package subscript(id: AccountID) -> Account? { all.first { $0.id == id } }

    // MARK: New accounts

    /// Stores and adds the account of a new user, unless the login was cancelled.
    func add(
        _ id: AccountID, _ identity: AccountIdentity, _ provider: any Provider,
        _ token: OAuthToken?, while isWanted: () -> Bool
    ) async throws -> Account {
        let record = AccountRecord(
            id: id, provider: provider.info.id, identity: identity, label: identity.username,
            isLoggedIn: true)
        let account = Account(record, provider, in: engine)
        let newDefault = defaultAccount ?? account
        try await store.save(record, defaultAccount: newDefault.id)
        guard isWanted() else {
            try await store.delete(id, defaultAccount: defaultAccount?.id)
            throw CancellationError()
        }
        all.append(account)
        account.startSession()
        if let token { account.credentials?.adopt(token) }
        engine.updateSecretsConnection()
        engine.emit(.accountAdded(account))
        becomeDefault(newDefault)
        return account
    }

    /// Returns the account of a user, if there is one.
    ///
    /// An account with the same user ID precedes an account without an ID that has the same user name. Of two accounts
    /// of one user, which earlier versions could create, a logged-in account precedes.
    func account(_ identity: AccountIdentity, of provider: any Provider) -> Account? {
        let known = all.filter {
            $0.provider.info.id == provider.info.id && $0.identity.isSameUser(as: identity)
        }
        let identified = known.filter { $0.identity.userID != nil }
        return identified.first { $0.isLoggedIn } ?? identified.first ?? known.first
    }

    // MARK: Logout

    /// Logs an account out. The account remains known. Has no effect on an account that is logged out.
    package func logOut(_ account: Account) async throws {
        // The prompt of the keyring is outside of the queue, so that other changes do not wait for the user.
        do {
            try await account.credentials?.unlockToDiscard()
            try await changes.run {
                try checkKnown(account)
                try await forget(account, "The account was logged out.") {
                    try await change(account) { $0.isLoggedIn = false }
                }
                await engine.slideshows.logOut(account.id)
            }
        } catch let error as SecretStoreError where error.isStoreGone {
            throw SecretStoreError.unavailable(
                Message(
                    verbatim:
                        "\(error.message.english.dropLast()); without the keyring, the account can only be removed."
                ))
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
        let credentials = account.credentials
        var isClosed = false
        func deleteData() async throws {
            isClosed = credentials != nil
            engine.transfers.stop(of: account, reason)
            try await account.service?.forget()
            try await change()
        }
        do {
            if let credentials, !isTokenAbandoned {
                // The token is deleted first: if that fails, nothing has changed.
                try await credentials.discard { try await deleteData() }
            } else {
                try await deleteData()
                await credentials?.abandon()
            }
        } catch {
            guard isClosed else { throw error }
            // The session is restarted, so that it is not partly closed.
            account.endSession()
            account.startSession()
            account.emit(.changed(.session))
            throw error
        }
    }

    /// Logs an account out and deletes it. A provider that stores its users deletes the user as well.
    ///
    /// If the keyring is missing or does not work, the token remains there. An event and a notification report that. An
    /// event also reports that the service could not be reached to revoke the token.
    package func remove(_ account: Account) async throws {
        do {
            try await account.credentials?.unlockToDiscard()
            try await remove(account, isTokenAbandoned: false)
        } catch let error as SecretStoreError where error.isStoreGone {
            try await remove(account, isTokenAbandoned: true)
            engine.reportRemainingToken(of: account)
        }
    }

    private func remove(_ account: Account, isTokenAbandoned: Bool) async throws {
        try await changes.run {
            try checkKnown(account)
            let newDefault = defaultAccount === account ? successor(of: account) : defaultAccount
            try await forget(
                account, "The account was removed.", isTokenAbandoned: isTokenAbandoned
            ) {
                // The account is deleted first: if deleting the user then fails, the caller can repeat the call, and after
                // the end of the process, the user can log in again. An account without its user would be useless.
                try await store.delete(account.id, defaultAccount: newDefault?.id)
                try await account.provider.folder?.removeUser(account.identity)
                engine.tokenRecipients[account.id] = nil
            }
            // The combined feed and slideshows would read the account while its tokens are revoked.
            all.removeAll { $0 === account }
            if isTokenAbandoned {
                account.emit(.tokenRemains(engine.remainingTokenMessage(account)))
            } else if await engine.revocations.areDue(of: account.id) {
                account.emit(.tokenRemains(engine.unrevokedTokenMessage(account)))
            }
            engine.emit(.accountRemoved(account))
            // If the session ended first, observers would announce the state "loading" with the removal.
            account.endSession()
            engine.notifications.resolveAll(about: .account(account.id))
            engine.updateSecretsConnection()
            becomeDefault(newDefault)
            await engine.slideshows.forget(account.id)
            await engine.deleteRevocation(of: account)
            await engine.logins.registrations.deleteIfUnused(by: account)
        }
    }

    /// Stores a change of an account's record, then applies it.
    func update(_ account: Account, _ change: (inout AccountRecord) -> Void) async throws {
        try await changes.run { try await self.change(account, change) }
    }

    /// Performs ``update(_:_:)``. Restores the record if the change was cancelled while it was stored.
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
        if !record.isLoggedIn { engine.transfers.stop(of: account, "The account was logged out.") }
        let change = record.isLoggedIn == account.isLoggedIn ? AccountChange.settings : .session
        account.adopt(record)
        account.emit(.changed(change))
        becomeDefault(newDefault)
    }

    /// Throws if the account was removed while the caller waited in the queue.
    private func checkKnown(_ account: Account) throws {
        guard all.contains(where: { $0 === account }) else {
            throw EngineError.notFound("The account \(account.id) has been removed.")
        }
    }

    // MARK: The default account

    /// Sets the default account, which is used for calls that name no account. There is one while any account is logged in.
    package func setDefaultAccount(_ account: Account?) async throws {
        try await changes.run {
            if let account {
                try checkKnown(account)
                guard account.isLoggedIn else { throw account.loggedOutError }
            } else if all.contains(where: \.isLoggedIn) {
                throw EngineError.invalidArgument(
                    "While an account is logged in, the default account cannot be \"/\".")
            }
            try await store.saveDefaultAccount(account?.id)
            becomeDefault(account)
        }
    }

    /// Returns the account that becomes the default: the first other account that is logged in.
    private func successor(of account: Account) -> Account? {
        all.first { $0 !== account && $0.isLoggedIn }
    }

    private func becomeDefault(_ account: Account?) {
        guard account !== defaultAccount else { return }
        defaultAccount = account
        engine.emit(.changed)
    }
}
