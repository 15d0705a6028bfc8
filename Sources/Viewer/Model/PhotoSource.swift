internal import ProviderKit

extension Source {
    /// The cover of an album or a collection; other sources have an icon.
    var shownCover: String? { kind == .album || kind == .collection ? cover?.text : nil }

    /// The count of photos as text; empty if it is unknown.
    var countText: String { count.map(Photo.text(ofCount:)) ?? "" }

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
