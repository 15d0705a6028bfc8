internal import Contract
internal import ProviderKit
internal import Translation

extension AccountProperties {
    /// The name of the user, or that of the account.
    var shownName: String { name.isEmpty ? label : name }

    /// The user name with the server.
    var identity: String {
        if server.isEmpty { return username }
        // An email address, or a server with its address.
        let isAddress = username.contains("@") || server.contains("/")
        if !isAddress { return "\(username)@\(server)" }
        return tr("{user} at {server}", ["user": username, "server": server])
    }

    /// The number of liked photos, with the likes that are not confirmed.
    var likesText: String {
        let text = Photo.text(ofCount: likeCount)
        if pendingLikes.isEmpty { return text }
        // Translators: the number of liked photos, and of likes that the service has not confirmed.
        return trn(
            "{photos}, {count} not confirmed", "{photos}, {count} not confirmed",
            pendingLikes.count, ["photos": text])
    }
}

extension ProviderProperties {
    /// The name in the language of the user. The name of a service is the same in each language.
    var shownName: String {
        switch id {
        case "local": tr("Photos on this computer")
        case "mastodon": tr("Mastodon and Pixelfed")
        case "daily": tr("Picture of the day")
        default: name
        }
    }

    /// True if the user logs in with a key of the service, or with a password there.
    var needsKey: Bool { authentication == "password" && !has("register") }
}

extension Remedy {
    /// The title of the button that starts the remedy.
    var title: String {
        switch self {
        case .login: tr("_Log in again")
        case .unlock: tr("_Unlock")
        case .configure: tr("_Set up")
        case .installKeyring, .freeSpace, .retry: tr("_Try again")
        }
    }
}

extension Source {
    /// The cover of an album or a collection; other sources have an icon.
    var shownCover: String? { kind == .album || kind == .collection ? cover?.text : nil }

    /// The icon of the theme for a source without a cover.
    var icon: String {
        switch (kind, id.text) {
        case (.likes, _), (_, "likes"): "emote-love-symbolic"
        case (_, "memories"): "document-open-recent-symbolic"
        case (.album, _), (.collection, _): "folder-pictures-symbolic"
        default: "image-x-generic-symbolic"
        }
    }
}
