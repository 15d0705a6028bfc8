internal import EngineModel
internal import ProviderKit
internal import Services
internal import Translation

/// The subject of an issue. Each subject gets at most one new notification in 30 seconds.
nonisolated enum IssueSubject: Hashable, Sendable {
    case account(AccountID)
    /// A provider, also for a login of a user without an account. The server is empty except for a login at a server
    /// that the user named.
    case provider(String, server: String = "")
    /// The secret store, which all accounts share.
    case secretStore
    case disk
    /// The file of accounts, likes and settings.
    case store
}

/// A problem that is reported to the user.
nonisolated struct ReportedIssue: Hashable, Sendable {
    /// The kind of an issue. The most important kind is first: its issue provides the title of a notification.
    enum Kind: Comparable, Sendable {
        case store
        case needsLogin
        case loginFailed
        case secretStore
        case tokenRemains
        case diskFull
        case pluginFailed
        case likes

        /// True if each occurrence is reported; false if only the first one is, until the issue is resolved.
        var recurs: Bool {
            switch self {
            case .store, .needsLogin, .secretStore, .tokenRemains, .diskFull: false
            case .loginFailed, .pluginFailed, .likes: true
            }
        }
    }

    let kind: Kind
    /// The name of the service or plugin for the title.
    var name = ""
    /// The account at the start of the text, for example `ada at Unsplash`; empty for none.
    var accountName = ""
    /// The description of the problem, one sentence.
    let reason: String
    /// The action of the user that solves the problem; nil if there is none, or if the reason names it.
    var remedy: IssueRemedy?
    /// The likes that were not sent, the latest last.
    var likes: [FailedLike] = []

    /// Returns the issue together with the previous issue of the same kind.
    func merged(with previous: ReportedIssue?) -> ReportedIssue {
        guard let previous, kind == .likes else { return self }
        var merged = self
        merged.likes = previous.likes.filter { old in !likes.contains { $0.photo == old.photo } }
        for like in likes {
            // A resolved action (like or unlike) is more specific than the toggle that a caller requested.
            let earlier = previous.likes.first { $0.photo == like.photo }
            merged.likes.append(like.isWanted == nil ? earlier ?? like : like)
        }
        return merged
    }
}

/// A like that was not sent.
nonisolated struct FailedLike: Hashable, Sendable {
    let photo: PhotoID
    /// True for a like, false for an unlike; nil if the caller requested the opposite of the present state.
    let isWanted: Bool?
}

// MARK: - Texts

nonisolated extension ReportedIssue {
    var title: String {
        switch kind {
        case .store: tr("The file of accounts and likes has a problem")
        case .needsLogin: tr("Log in to {service} again", ["service": name])
        case .loginFailed: tr("Login to {service} failed", ["service": name])
        case .secretStore: tr("The keyring is needed")
        case .tokenRemains: tr("A token may remain in the keyring")
        case .diskFull: tr("The disk is full")
        case .pluginFailed: tr("{plugin} has failed", ["plugin": name])
        case .likes:
            switch (likes.count, hasUnlikesOnly) {
            case (1, false): tr("A like was not sent")
            case (1, true): tr("An unlike was not sent")
            case (_, false): tr("Likes were not sent")
            case (_, true): tr("Unlikes were not sent")
            }
        }
    }

    var text: String {
        guard kind == .likes else {
            return accountName.isEmpty
                ? reason : tr("{account}: {problem}", ["account": accountName, "problem": reason])
        }
        let unlikes = likes.count { $0.isWanted == false }
        let account: KeyValuePairs = ["account": accountName]
        let sentence =
            switch (likes.count - unlikes, unlikes) {
            case (let likes, 0):
                trn(
                    "{count} like could not be sent for {account}.",
                    "{count} likes could not be sent for {account}.", likes, account)
            case (0, let unlikes):
                trn(
                    "{count} unlike could not be sent for {account}.",
                    "{count} unlikes could not be sent for {account}.", unlikes, account)
            case (let likes, let unlikes):
                // Translators: {likes} and {unlikes} are “1 like” and “2 unlikes”.
                tr(
                    "{likes} and {unlikes} could not be sent for {account}.",
                    [
                        "likes": trn("{count} like", "{count} likes", likes),
                        "unlikes": trn("{count} unlike", "{count} unlikes", unlikes),
                        "account": accountName,
                    ])
            }
        return "\(sentence) \(reason)"
    }

    var action: NotificationAction? {
        switch kind {
        // The user has to choose the account to log in to, or the entry of the keyring to delete.
        case .store, .tokenRemains: nil
        case .needsLogin: .login
        // A login with a password cannot be repeated by a button: the user has to enter the password again.
        case .loginFailed: remedy == nil ? nil : .login
        case .secretStore, .diskFull, .pluginFailed, .likes: .retry
        }
    }

    var category: String {
        switch kind {
        case .needsLogin, .loginFailed, .secretStore, .tokenRemains: "network.error"
        case .store, .diskFull, .pluginFailed: "device.error"
        case .likes: "transfer.error"
        }
    }

    private var hasUnlikesOnly: Bool { likes.allSatisfy { $0.isWanted == false } }
}

nonisolated extension NotificationContent {
    /// Creates the content of a notification about one or more issues; nil for none.
    ///
    /// - Parameter issues: The issues, the most important first.
    init?(_ issues: [ReportedIssue]) {
        guard let first = issues.first else { return nil }
        title = first.title
        text = issues.map(\.text).joined(separator: "\n")
        remedies = issues.compactMap(\.remedy)
        category = first.category
        var actions: [NotificationAction] = []
        for case let action? in issues.map(\.action) where !actions.contains(action) {
            actions.append(action)
        }
        self.actions = actions
    }
}
