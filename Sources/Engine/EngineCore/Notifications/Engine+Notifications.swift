internal import EngineModel
internal import Logging
internal import ProviderKit
internal import Services
internal import Storage
package import Translation

// The issues that the engine reports to the user, and the actions for them.
extension Engine {
    // MARK: Accounts

    /// Reports or resolves the issues that the state of an account implies.
    func reportState(of account: Account) {
        let subject = IssueSubject.account(account.id)
        let target = IssueRemedy.Target.account(account.id, provider: account.provider.info.id)
        if case .needsLogin(let reason) = account.state {
            notifications.raise(
                ReportedIssue(
                    kind: .needsLogin, name: account.serviceName,
                    accountName: account.fullName,
                    reason: reason.translated, remedy: IssueRemedy(.login, target)),
                about: subject)
        } else {
            notifications.resolve(.needsLogin, about: subject)
        }
        if case .locked(let reason, let remedy) = account.state {
            notifications.raise(
                ReportedIssue(
                    kind: .secretStore, reason: reason.translated,
                    remedy: IssueRemedy(remedy, target)),
                about: .secretStore)
        } else if !accounts.all.contains(where: \.state.isLocked) {
            notifications.resolve(.secretStore, about: .secretStore)
        }
    }

    /// Reports that an account was removed and its token could not be deleted.
    func reportRemainingToken(of account: Account) {
        ports.logger.warning(
            "The token of a removed account may remain in the keyring",
            metadata: ["account": "\(account.id)"])
        notifications.raise(
            ReportedIssue(
                kind: .tokenRemains, accountName: account.fullName,
                reason: remainingTokenMessage(account)),
            about: .account(account.id))
    }

    func remainingTokenMessage(_ account: Account) -> String {
        tr(
            "The token may remain in the keyring, which cannot be used now; delete “{entry}” there later.",
            ["entry": account.provider.secretLabel(for: account.identity)])
    }

    func unrevokedTokenMessage(_ account: Account) -> String {
        tr(
            "The login is still valid at {service}; end it in the settings of your account there.",
            ["service": account.serviceName])
    }

    /// Unlocks the keyring, because the user chose to try again.
    func unlockAgain() async {
        for account in accounts.all where account.state.isLocked {
            // If the user cancels a prompt, no other prompt is shown.
            do { try await account.credentials?.unlock() } catch { break }
        }
        retryNow()
    }

    // MARK: Logins

    /// Reports that a login failed whose result no caller awaits.
    func reportFailure(of login: Login, _ error: any Error) {
        switch error {
        // The user caused these errors.
        case EngineError.loginDenied, EngineError.cancelled, EngineError.alreadyLoggedIn,
            is CancellationError:
            return
        default:
            reportFailedLogin(login.provider, login.expectedAccount, at: login.server, error)
        }
    }

    private func reportFailedLogin(
        _ provider: any Provider, _ account: Account?, at server: String, _ error: any Error,
        needsTerminal: Bool = false
    ) {
        let isInBrowser = provider.loginMethod.usesOAuth
        let target =
            account.map { IssueRemedy.Target.account($0.id, provider: provider.info.id) }
            ?? .provider(provider.info.id, server: server)
        notifications.raise(
            ReportedIssue(
                kind: .loginFailed, name: provider.serviceName(at: server),
                accountName: account?.label ?? "",
                reason: Message(error).translated,
                remedy: isInBrowser
                    ? IssueRemedy(.login, target, needsTerminal: needsTerminal) : nil),
            about: subject(of: provider, account, at: server))
    }

    /// Resolves the issue of an earlier failed login, because the user tries again. A login with a user name may be for
    /// another user, so it resolves nothing before it succeeds.
    func loginBegan(_ login: Login) {
        guard login.provider.loginMethod.usesOAuth || login.expectedAccount != nil else { return }
        loginSucceeded(login)
    }

    /// Resolves the issue of an earlier failed login.
    func loginSucceeded(_ login: Login) {
        let subject = subject(of: login)
        for other in logins.all where self.subject(of: other) == subject { other.cancelReport() }
        notifications.resolve(.loginFailed, about: subject)
    }

    private func subject(of login: Login) -> IssueSubject {
        subject(of: login.provider, login.expectedAccount, at: login.server)
    }

    private func subject(
        of provider: any Provider, _ account: Account?, at server: String
    ) -> IssueSubject {
        account.map { IssueSubject.account($0.id) } ?? .provider(provider.info.id, server: server)
    }

    /// Starts a login in the browser, because the user chose that action. Opens the address of an unfinished login
    /// again, if there is one.
    func logInAgain(_ subject: IssueSubject, activationToken: String) async {
        var options = LoginOptions()
        let id: String
        switch subject {
        case .account(let account):
            guard let account = accounts[account] else { return }
            options.account = account
            id = account.provider.info.id
        case .provider(let provider, let server):
            if !server.isEmpty { options.server = server }
            id = provider
        case .secretStore, .disk, .store: return
        }
        guard let provider = provider(id) else { return }
        do {
            let running = logins.all.first {
                !$0.hasEnded && $0.provider.info.id == id && $0.expectedAccount === options.account
                    && $0.server == options.server ?? $0.server && !$0.authorizationURL.isEmpty
            }
            if running == nil { try await logins.checkClientSecret(of: id) }
            let login = try running ?? logins.start(id, options)
            await login.prepared()
            // A login that failed before it had an address reports its failure.
            guard !login.hasEnded else { return }
            do {
                try await ports.openURL(login.authorizationURL, activationToken)
            } catch {
                if running == nil { login.cancel() }
                reportFailedLogin(
                    provider, options.account, at: options.server ?? "",
                    EngineError.notSupported(
                        Message(
                            "No browser could be started; a login in a terminal shows the address.")
                    ),
                    needsTerminal: true)
            }
        } catch {
            reportFailedLogin(provider, options.account, at: options.server ?? "", error)
        }
    }

    // MARK: Plugins

    /// Reports that a plugin crashed or does not start. Call it after the automatic restarts failed.
    ///
    /// - Parameters:
    ///   - provider: The ID of the provider.
    ///   - name: The name of the provider for users.
    ///   - reason: The reason, one sentence.
    package func reportPluginFailure(_ provider: String, name: String, reason: Message) {
        notifications.raise(
            ReportedIssue(kind: .pluginFailed, name: name, reason: reason.translated),
            about: .provider(provider))
    }

    /// Resolves the issue of a plugin, because it runs again.
    package func resolvePluginFailure(_ provider: String) {
        notifications.resolve(.pluginFailed, about: .provider(provider))
    }

    // MARK: The disk

    /// Announces and reports changed notices of the store. Call it after they have changed.
    package func storeChanged() {
        emit(.changed)
        let notices = store.notices.map(\.translated)
        guard !notices.isEmpty else { return notifications.resolve(.store, about: .store) }
        notifications.raise(
            ReportedIssue(kind: .store, reason: notices.joined(separator: " ")), about: .store)
    }

    /// Reports that the disk is full, or resolves that issue. Used for writes whose caller cannot act on the failure.
    func reportDisk(isFull: Bool) {
        guard isFull else { return notifications.resolve(.diskFull, about: .disk) }
        notifications.raise(
            ReportedIssue(
                kind: .diskFull,
                reason: tr("Photos and likes cannot be stored; free some space and try again.")),
            about: .disk)
    }
}

// MARK: - Likes

extension Account {
    /// Reports that a like failed permanently.
    func reportFailedLike(_ photo: PhotoID, _ isWanted: Bool?, _ error: any Error) {
        switch error {
        case EngineError.cancelled, is CancellationError: return
        default: break
        }
        let reason = Message(error)
        engine.ports.logger.info(
            "A like was not sent",
            metadata: ["account": "\(id)", "photo": "\(photo)", "reason": "\(reason)"])
        engine.notifications.raise(
            ReportedIssue(
                kind: .likes, accountName: fullName, reason: reason.translated,
                remedy: IssueRemedy(.retry, .like(photo, isWanted: isWanted, id)),
                likes: [FailedLike(photo: photo, isWanted: isWanted)]),
            about: .account(id))
    }

    /// The name of the account in notifications, for example `ada at Unsplash`.
    fileprivate var fullName: String {
        tr("{account} at {service}", ["account": label, "service": serviceName])
    }

    fileprivate var serviceName: String { provider.serviceName(at: identity.server) }
}

nonisolated extension AccountState {
    fileprivate var isLocked: Bool { if case .locked = self { true } else { false } }
}
