internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

extension AccountProperties {
    /// The properties of the account, with the name and avatar of the profile and the pending likes.
    var json: JSON {
        var all = properties(.account) ?? [:]
        for name: MemberName in [.name, .avatar] { all[name.text] = self[.profile, name] }
        all["Pending"] = properties(.like).map { $0["Pending"] ?? .array([], of: "s") }
        let order = InterfaceName.account.properties + ["Name", "Avatar", "Pending"]
        return .object(JSON.members(all, order: order))
    }
    var providerID: String { provider?.lastElement ?? "" }
    /// The hint to log in to the account again.
    var loginAdvice: String { loginHint.translated }
    var loginHint: Message {
        Message(
            "Log in with “imagefeedctl login {provider} --account {account}”.",
            ["provider": providerID, "account": id])
    }
    /// The hint for ``remedy``; nil if there is none, or if the reason of the state contains it.
    var advice: String? {
        switch remedy {
        case .login: loginAdvice
        case .configure: tr("Correct imagefeed.conf; see imagefeed.conf(5).")
        case .unlock, .installKeyring, .freeSpace, .retry, nil: nil
        }
    }
    /// The reason of the state, without the remedy if ``advice`` names it.
    var reason: String { advice == nil ? stateReason : stateReason.withoutRemedy }
    /// The exit status of a command that has no result because of the state.
    var status: ProgramStatus {
        switch (remedy, state) {
        case (.login, _): .needsLogin
        case (.configure, _): .notConfigured
        case (_, .loading): .done
        case (_, .offline), (_, .rateLimited), (_, .locked): .tryLater
        default: .failed
        }
    }
    /// The time of the next automatic retry; nil if there is none.
    var retryAt: Timestamp? {
        self[.account, .retryAt]?.int64.flatMap { $0 > 0 ? Timestamp(secondsSince1970: $0) : nil }
    }
    /// The rate limit, with the time when it is reset in seconds since 1970, or 0 if that is unknown; nil if there is
    /// no rate limit.
    var rateLimit: (remaining: UInt32, limit: UInt32, reset: Int64)? {
        guard case .structure(let fields)? = self[.account, .rateLimit], fields.count == 3,
            let remaining = fields[0].uint32, let limit = fields[1].uint32, limit > 0,
            let reset = fields[2].int64
        else { return nil }
        return (remaining, limit, reset)
    }

    var stateStyle: TextStyle {
        switch state {
        case .ready: .good
        case .loading, .loggedOut: .faint
        case .needsLogin, .failed: .bad
        case .offline, .rateLimited, .locked, nil: .warning
        }
    }

    // MARK: Questions

    /// The question before the logout, which deletes the pending likes.
    var logoutQuestion: String {
        guard !pendingLikes.isEmpty else { return tr("Log out of {account}?", ["account": label]) }
        return trn(
            "Log out of {account} and discard a like that has not been sent yet?",
            "Log out of {account} and discard {count} likes that have not been sent yet?",
            pendingLikes.count, ["account": label])
    }

    /// The question before the removal, which deletes the pending likes.
    var removalQuestion: String {
        guard !pendingLikes.isEmpty else {
            return tr("Remove {account} ({id})?", ["account": label, "id": id])
        }
        return trn(
            "Remove {account} ({id}) and discard a like that has not been sent yet?",
            "Remove {account} ({id}) and discard {count} likes that have not been sent yet?",
            pendingLikes.count, ["account": label, "id": id])
    }
}
