internal import Logging
internal import ProviderKit
internal import Storage

// What the user is told of, and what they can have done about it.
extension Engine {
    // MARK: Accounts

    /// Takes note of how an account is doing.
    func noteState(of account: Account) {
        let subject = NoticeSubject.account(account.id)
        if case .needsLogin(let reason) = account.state {
            notices.raise(
                Trouble(
                    kind: .needsLogin, name: account.provider.info.name, whom: account.whom,
                    reason: reason, command: account.loginCommand),
                about: subject)
        } else {
            notices.heal(.needsLogin, about: subject)
        }
        guard !(account.state.isLocked) else { return noteLocked(account) }
        if !accounts.contains(where: \.state.isLocked) {
            notices.heal(.secretStore, about: .secretStore)
        }
    }

    private func noteLocked(_ account: Account) {
        guard case .locked(let reason, _) = account.state else { return }
        notices.raise(
            Trouble(
                kind: .secretStore, reason: reason,
                command: "imagefeedctl refresh --account \(account.id)"),
            about: .secretStore)
    }

    /// Reports that an account was removed whose token could not be deleted.
    func noteRemainingToken(of account: Account) {
        ports.logger.warning(
            "The token of a removed account may remain in the keyring",
            metadata: ["account": "\(account.id)"])
        notices.raise(
            Trouble(
                kind: .tokenRemains, whom: account.whom, reason: remainingTokenMessage(account)),
            about: .account(account.id))
    }

    func remainingTokenMessage(_ account: Account) -> String {
        "The token may remain in the keyring, which cannot be used now; delete"
            + " “\(Self.secretLabel(account.identity, account.provider))” there later."
    }

    /// Has the keyring unlocked, because the user chose to try again.
    func unlockAgain() async {
        for account in accounts where account.state.isLocked {
            // Who does not unlock it for one, does not for the next.
            do { try await account.remote?.unlock() } catch { break }
        }
        tryAgain()
    }

    // MARK: Logins

    /// Takes note that a login has failed that nobody waits for.
    func noteFailure(of login: Login, _ error: any Error) {
        switch error {
        // The user said so, or knows.
        case EngineError.loginDenied, EngineError.cancelled, is CancellationError: return
        default:
            noteFailedLogin(login.provider, login.expectedAccount, at: login.server, error)
        }
    }

    private func noteFailedLogin(
        _ provider: any Provider, _ account: Account?, at server: String, _ error: any Error
    ) {
        let isInBrowser = Self.isRemote(provider)
        notices.raise(
            Trouble(
                kind: .loginFailed, name: server.isEmpty ? provider.info.name : server,
                whom: account?.label ?? "",
                reason: (error as? SecretStoreError)?.message ?? "\(error)",
                command: isInBrowser ? loginCommand(provider, account, at: server) : ""),
            about: subject(of: provider, account, at: server))
    }

    private func loginCommand(
        _ provider: any Provider, _ account: Account?, at server: String
    ) -> String {
        account?.loginCommand
            ?? "imagefeedctl login \(provider.info.id)"
            + (server.isEmpty ? "" : " --server \(server)")
    }

    /// Takes note that somebody tries again. Who logs in by a name may be somebody else.
    func noteBeginning(of login: Login) {
        guard Self.isRemote(login.provider) || login.expectedAccount != nil else { return }
        noteSuccess(of: login)
    }

    /// Takes note that somebody was let in.
    func noteSuccess(of login: Login) {
        notices.heal(
            .loginFailed,
            about: subject(of: login.provider, login.expectedAccount, at: login.server))
    }

    private func subject(
        of provider: any Provider, _ account: Account?, at server: String
    ) -> NoticeSubject {
        if let account { return .account(account.id) }
        let id = provider.info.id
        return server.isEmpty ? .provider(id) : .server(server, of: id)
    }

    /// Starts a login in the browser, because the user chose to; shows one that goes on already.
    func logInAgain(_ subject: NoticeSubject, activationToken: String) async {
        var options = LoginOptions()
        let id: String
        switch subject {
        case .account(let account):
            guard let account = self.account(account) else { return }
            options.account = account
            id = account.provider.info.id
        case .provider(let provider): id = provider
        case .server(let server, let provider):
            options.server = server
            id = provider
        case .secretStore, .disk, .accounts: return
        }
        guard let provider = provider(id) else { return }
        do {
            let running = logins.all.first {
                !$0.hasEnded && $0.provider.info.id == id && $0.expectedAccount === options.account
                    && $0.server == options.server ?? $0.server && !$0.authorizationURL.isEmpty
            }
            let login = try running ?? logins.start(id, options)
            await login.prepared()
            // What has gone wrong before there was an address, the login tells itself.
            guard !login.hasEnded else { return }
            do {
                try await ports.openURL(login.authorizationURL, activationToken)
            } catch {
                if running == nil { login.cancel() }
                let command = loginCommand(
                    provider, options.account, at: options.server ?? "")
                throw EngineError.notSupported(
                    "No browser could be started; \"\(command)\" in a terminal shows the address.")
            }
        } catch {
            noteFailedLogin(provider, options.account, at: options.server ?? "", error)
        }
    }

    // MARK: Plugins

    /// Takes note that a plugin has crashed, or does not start; once what makes it run again has been tried.
    ///
    /// - Parameters:
    ///   - provider: The id of its provider.
    ///   - name: What a person calls it.
    ///   - reason: What is wrong, in a sentence.
    package func notePluginFailure(_ provider: String, name: String, reason: String) {
        notices.raise(
            Trouble(kind: .pluginFailed, name: name, reason: reason), about: .provider(provider))
    }

    /// Takes note that a plugin runs (again).
    package func notePluginRunning(_ provider: String) {
        notices.heal(.pluginFailed, about: .provider(provider))
    }

    // MARK: The disk

    /// Takes note that the file of accounts was damaged, and has another name now.
    func noteDamage(_ path: String) {
        ports.logger.error(
            "The file of accounts was damaged, and a new one is begun",
            metadata: ["kept": "\(path)"])
        notices.raise(
            Trouble(
                kind: .accountsDamaged,
                reason: "Log in again. What can be read of the file is in \(path).",
                command: "imagefeedctl login"),
            about: .accounts)
    }

    /// Takes note of whether something could be written, where nobody is told who could act on it.
    func noteDisk(isFull: Bool) {
        guard isFull else { return notices.heal(.diskFull, about: .disk) }
        notices.raise(
            Trouble(
                kind: .diskFull,
                reason: "Photos and likes cannot be kept; make some room and try again."),
            about: .disk)
    }
}

// MARK: - Likes

extension Account {
    /// Likes or unlikes a photo for a caller who may not look at the reply.
    func noticing(
        _ photo: String, _ wish: FailedLike.Wish,
        _ body: () async throws -> (isLiked: Bool, outcome: LikeOutcome)
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        do {
            let result = try await body()
            // What took too long for its caller may have been refused by now, and was told of then.
            if result.outcome != .queued || remote?.likes?.isPending(PhotoID(photo)) == true {
                engine.notices.settle(PhotoID(photo), about: .account(id))
            }
            return result
        } catch {
            noteFailedLike(PhotoID(photo), wish, error)
            throw error
        }
    }

    /// Takes note that a like was not sent, and will not be.
    func noteFailedLike(_ photo: PhotoID, _ wish: FailedLike.Wish, _ error: any Error) {
        switch error {
        case EngineError.cancelled, is CancellationError: return
        default: break
        }
        let reason = (error as? SecretStoreError)?.message ?? "\(error)"
        engine.ports.logger.info(
            "A like was not sent",
            metadata: ["account": "\(id)", "photo": "\(photo)", "reason": "\(reason)"])
        engine.notices.raise(
            Trouble(
                kind: .likes, whom: whom, reason: reason,
                command: "imagefeedctl \(wish.rawValue) \(id)/\(photo)",
                likes: [FailedLike(photo: photo, wish: wish)]),
            about: .account(id))
    }

    /// Sends a like again that was not sent.
    func sendAgain(_ like: FailedLike) async throws {
        switch like.wish {
        case .like: _ = try await setLiked(like.photo.text, true)
        case .unlike: _ = try await setLiked(like.photo.text, false)
        case .toggle: _ = try await toggleLike(like.photo.text)
        }
    }

    /// How a person calls it: `ada at Unsplash`.
    fileprivate var whom: String { "\(label) at \(provider.info.name)" }

    fileprivate var loginCommand: String {
        "imagefeedctl login \(provider.info.id) --account \(id)"
    }
}

nonisolated extension AccountState {
    fileprivate var isLocked: Bool { if case .locked = self { true } else { false } }
}
