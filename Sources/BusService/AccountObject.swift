internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit
internal import Translation

/// The D-Bus object of an account: `Account` and `Profile` always, `Feed` and `Like` while it is logged in.
final class AccountObject {
    let account: Account
    let exported: ExportedObject
    let feed: FeedObject

    /// Exports an account.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - watchers: The clients that have read first pages.
    init(_ account: Account, _ watchers: FollowedClients) {
        self.account = account
        exported = ExportedObject(account.path)
        feed = FeedObject(account, exported, watchers)
        exported.add(Self.accountInterface, on: self)
        exported.add(Self.profileInterface, on: self)
        showFeed()
    }

    /// Announces an event of the account.
    func handle(_ event: AccountEvent) {
        feed.announce(event) { PhotoEntry($0, account: account.path) }
        switch event {
        case .changed:
            showFeed()
            exported.announceChanges()
        case .updated(let source, let new):
            feed.sourceChanged(source)
            exported.emit(.feed, .updated, source.text, UInt32(clamping: new))
        case .tokenRemains(let message): exported.emit(.account, .tokenRemains, message)
        default: break
        }
    }

    private func showFeed() {
        guard account.isLoggedIn else { return exported.remove([.feed, .like]) }
        if !exported.has(.feed) { exported.add(FeedObject.feedInterface, on: feed) }
        if account.offersLikes, !exported.has(.like) {
            exported.add(FeedObject.likeInterface, on: feed)
        }
    }

    // MARK: Account

    private static let accountInterface = BusInterface<AccountObject>(
        versioned: .account,
        [
            .asyncMethod(.logout) { try await $0.account.engine.accounts.logOut($0.account) },
            .asyncMethod(.remove) { try await $0.account.engine.accounts.remove($0.account) },
            .asyncMethod(.refresh) { try await $0.account.refresh() },
            .signal(.tokenRemains, ["message"], String.self),
            .property(.id, isConstant: true) { $0.account.id.text },
            .property(.provider, isConstant: true) { $0.account.provider.info.path },
            .property(.username) { $0.account.identity.username },
            .property(.server) { $0.account.identity.server },
            .property(.label, { $0.account.label }) { try await $0.account.setLabel($1) },
            .property(.state) { $0.account.state.name.rawValue },
            .property(.stateReason) { $0.account.state.reason },
            .property(.remedy) { $0.account.state.remedy?.rawValue ?? "" },
            .property(.retryAt) { $0.account.retryAt?.secondsSince1970 ?? 0 },
            .property(.rateLimit) { $0.rateLimit },
            .property(.notices) { $0.account.notices },
        ])

    /// The remaining requests, the limit, and the time of the reset in Unix seconds; 0 for unknown values.
    private var rateLimit: BusStruct<UInt32, UInt32, Int64> {
        guard let limit = account.rateLimit else { return BusStruct(0, 0, 0) }
        return BusStruct(
            UInt32(clamping: limit.remaining), UInt32(clamping: limit.limit),
            limit.reset?.secondsSince1970 ?? 0)
    }

    // MARK: Profile

    private static let profileInterface = BusInterface<AccountObject>(
        versioned: .profile,
        [
            .asyncMethod(.refresh) { try await $0.account.refreshProfileIfStale() },
            .asyncMethod(.setAvatar, in: ["photo"]) { try await $0.account.setAvatar($1) },
            .property(.state) { $0.account.profileState.rawValue },
            .property(.username) { $0.account.profile.username },
            .property(.name) { $0.account.profile.name },
            .property(.bio) { $0.account.profile.bio },
            .property(.location) { $0.account.profile.location },
            .property(.url) { $0.account.profile.url },
            .property(.avatar) { $0.account.profile.avatar },
            .property(.editable) { $0.account.profile.isEditable },
        ])
}

extension AccountState {
    /// The name of the state on the bus.
    var name: AccountStateName {
        switch self {
        case .ready: .ready
        case .loading: .loading
        case .offline: .offline
        case .rateLimited: .rateLimited
        case .locked: .locked
        case .needsLogin: .needsLogin
        case .failed: .failed
        case .loggedOut: .loggedOut
        }
    }

    /// The reason of the state in one sentence in the language of the user; empty if there is none.
    var reason: String {
        switch self {
        case .ready: ""
        case .loading(let reason), .offline(let reason), .locked(let reason, _),
            .needsLogin(let reason), .failed(let reason, _):
            reason.translated
        case .rateLimited(let until):
            if let time = until.localClock(now: .now) {
                tr("The service limits requests until {time}.", ["time": time])
            } else {
                tr("The service limits requests until later.")
            }
        case .loggedOut: tr("Logged out.")
        }
    }
}
