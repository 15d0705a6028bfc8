internal import ProviderKit

/// Whom or what a trouble befalls. There is one notice for each in 30 seconds.
nonisolated enum NoticeSubject: Hashable, Sendable {
    case account(AccountID)
    /// A provider as a whole, or somebody who has no account there yet.
    case provider(String)
    /// Somebody who has no account yet at a server, of a provider of many.
    case server(String, of: String)
    /// The secret store, which all accounts share.
    case secretStore
    case disk
    /// The list of accounts itself.
    case accounts
}

/// Something that the user should know of.
nonisolated struct Trouble: Hashable, Sendable {
    /// The most important first: it has the title of a notice that tells of several.
    enum Kind: Int, Comparable, Sendable {
        case accountsDamaged
        case needsLogin
        case loginFailed
        case secretStore
        case tokenRemains
        case diskFull
        case pluginFailed
        case likes

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }

        /// Whether each time counts, and not only the first until it is healed.
        var recurs: Bool {
            switch self {
            case .accountsDamaged, .needsLogin, .secretStore, .tokenRemains, .diskFull: false
            case .loginFailed, .pluginFailed, .likes: true
            }
        }
    }

    let kind: Kind
    /// In the title of the notice: the service, the plugin.
    var name = ""
    /// At the beginning of the text: `ada at Unsplash`.
    var whom = ""
    /// What is wrong, in a sentence.
    let reason: String
    /// A command that helps; empty for none.
    var command = ""
    /// The likes that were not sent, the latest last.
    var likes: [FailedLike] = []

    /// The trouble together with what is known of its kind already.
    func joining(_ known: Trouble?) -> Trouble {
        guard let known, kind == .likes else { return self }
        var joined = self
        joined.likes = known.likes.filter { old in !likes.contains { $0.photo == old.photo } }
        for like in likes {
            // What was found out before a like was refused says more than who asked for it.
            let earlier = known.likes.first { $0.photo == like.photo }
            joined.likes.append(like.wish == .toggle ? earlier ?? like : like)
        }
        return joined
    }
}

/// A like that was not sent.
nonisolated struct FailedLike: Hashable, Sendable {
    enum Wish: String, Sendable {
        case like
        case unlike
        case toggle
    }

    let photo: PhotoID
    let wish: Wish
}

// MARK: - Words

nonisolated extension Trouble {
    var title: String {
        switch kind {
        case .accountsDamaged: "The list of accounts was damaged"
        case .needsLogin: "Log in to \(name) again"
        case .loginFailed: "Login to \(name) failed"
        case .secretStore: "The keyring is needed"
        case .tokenRemains: "A token may remain in the keyring"
        case .diskFull: "The disk is full"
        case .pluginFailed: "\(name) has failed"
        case .likes:
            switch (likes.count, hasUnlikesOnly) {
            case (1, false): "A like was not sent"
            case (1, true): "A like was not taken back"
            case (_, false): "Likes were not sent"
            case (_, true): "Likes were not taken back"
            }
        }
    }

    var text: String {
        guard kind == .likes else { return whom.isEmpty ? reason : "\(whom): \(reason)" }
        let count = likes.count == 1 ? "1 like" : "\(likes.count) likes"
        let verb =
            if hasUnlikesOnly {
                "taken back"
            } else if likes.contains(where: { $0.wish == .unlike }) {
                "sent or taken back"
            } else {
                "sent"
            }
        return "\(count) could not be \(verb) for \(whom). \(reason)"
    }

    /// What helps where there are no buttons.
    var advice: String { command.isEmpty ? "" : "Run “\(command)”." }

    var action: NoticeAction? {
        switch kind {
        // Which account, only the user knows.
        case .accountsDamaged, .tokenRemains: nil
        case .needsLogin: .login
        // What a person has to type again, no button can do.
        case .loginFailed: command.isEmpty ? nil : .login
        case .secretStore, .diskFull, .pluginFailed, .likes: .retry
        }
    }

    var category: String {
        switch kind {
        case .needsLogin, .loginFailed, .secretStore, .tokenRemains: "network.error"
        case .accountsDamaged, .diskFull, .pluginFailed: "device.error"
        case .likes: "transfer.error"
        }
    }

    private var hasUnlikesOnly: Bool { likes.allSatisfy { $0.wish == .unlike } }
}

nonisolated extension NotificationContent {
    /// What is shown of several troubles.
    ///
    /// - Parameter troubles: At least one, the most important first.
    init?(_ troubles: [Trouble]) {
        guard let first = troubles.first else { return nil }
        title = first.title
        text = troubles.map(\.text).joined(separator: "\n")
        advice = troubles.map(\.advice).filter { !$0.isEmpty }.joined(separator: " ")
        category = first.category
        var actions: [NoticeAction] = []
        for case let action? in troubles.map(\.action) where !actions.contains(action) {
            actions.append(action)
        }
        self.actions = actions
    }
}
