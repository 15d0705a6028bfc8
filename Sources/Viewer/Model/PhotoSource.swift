internal import BusAPI
internal import DBus

/// An ordered list of photos of an account.
struct PhotoSource: Equatable {
    let id: String
    let title: String
    let kind: String
    let count: UInt32?
    let cover: String?

    init?(_ entries: [String: Variant]) {
        guard let id = entries[SourceKey.id.rawValue]?.string else { return nil }
        self.id = id
        title = entries[SourceKey.title.rawValue]?.string ?? id
        kind = entries[SourceKey.kind.rawValue]?.string ?? ""
        count = entries[SourceKey.count.rawValue]?.uint32
        cover = entries[SourceKey.cover.rawValue]?.string
    }

    /// The cover of an album or a collection; other sources have an icon.
    var shownCover: String? { kind == "album" || kind == "collection" ? cover : nil }

    /// The count of photos as text; empty if it is unknown.
    var countText: String { count.map(Photo.text(ofCount:)) ?? "" }

    /// The icon of the theme for a source without a cover.
    var icon: String {
        switch (kind, id) {
        case ("likes", _), (_, "likes"): "emote-love-symbolic"
        case (_, "memories"): "document-open-recent-symbolic"
        case ("album", _), ("collection", _): "folder-pictures-symbolic"
        default: "image-x-generic-symbolic"
        }
    }
}
