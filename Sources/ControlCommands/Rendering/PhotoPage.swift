internal import Contract
internal import JSONFormat
internal import ProviderKit
internal import Translation

/// One or more pages of a source.
struct PhotoPage: Renderable {
    var photos: [PhotoEntry]
    /// The cursor of the next page; empty at the end of the source.
    var next: String
    /// True if the photos have IDs of the combined account.
    var isCombined = false
    /// The shortest references to accounts; see `DaemonMirror.shortIDs`.
    var shortIDs: [String: String] = [:]

    var json: JSON { ["photos": .array(photos.map(\.json)), "next": JSON(next)] }

    func text(for target: OutputTarget) -> String { table(for: target).text(for: target) }

    /// Returns the photo reference `ACCOUNT/ID`, which commands accept as an argument. On a terminal, it is short.
    func reference(of photo: PhotoEntry, for target: OutputTarget) -> String {
        let account = photo.account.lastElement
        let id = isCombined ? photo.id.dropFirst(account.count + 1) : photo.id[...]
        return "\(target == .pipe ? account : shortIDs[account] ?? account)/\(id)"
    }

    func table(for target: OutputTarget) -> Table<PhotoEntry> {
        Table(
            photos,
            columns: [
                .init(title: tr("PHOTO")) { Cell(reference(of: $0, for: target)) },
                .init(title: tr("CREATED"), dropRank: 2) {
                    Cell($0.created?.minute(for: target) ?? "", .faint)
                },
                .init(title: tr("SIZE"), dropRank: 5, isNumber: true) { Cell($0.size, .faint) },
                .init(title: tr("LIKES"), dropRank: 4, isNumber: true) { Cell($0.likesText) },
                // At least 12 columns distinguish most titles, and the table still fits into 40 columns.
                .init(title: tr("TITLE"), minimumWidth: 12, dropRank: 1) { Cell($0.caption) },
                .init(title: tr("AUTHOR"), minimumWidth: 8, dropRank: 3) { Cell($0.author ?? "") },
            ])
    }
}

extension PhotoEntry {
    fileprivate var size: String {
        guard let width = photo.width, let height = photo.height else { return "" }
        return "\(width)×\(height)"
    }

    /// The number of likes, after ♥ if the user likes the photo or ♡ while a like or unlike is pending.
    fileprivate var likesText: String {
        let mark = photo.isPending ? "♡" : photo.isLiked ? "♥" : ""
        return [mark, photo.likes.map(String.init) ?? ""].filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}
