/// A photo, and the file by which it is recognized if a user has marked it.
///
/// A mark is something durable that a user has attached to a photo. It stays with the path while the file is edited in
/// place or a new file is renamed over it, follows the content when the file is moved, and ends when neither is found. A
/// photo that was in the index is no new file: it stays the same photo when it is moved over another one. If the content
/// appears again, for example from the trash, so do the marks. ``FolderScan`` decides this. The ID never changes, and no
/// other photo gets it.
struct PhotoFile: Sendable, Equatable {
    /// The ID of the photo, which is its row in the index.
    let id: Int64
    /// The last known path.
    var path: RelativePath
    var stamp: FileStamp
    /// The last known content; nil if the file was not read.
    var content: FileDigest?
}

/// The marks of a photo.
struct Mark: Hashable, Sendable {
    /// The purpose of a mark. The raw values are stored.
    enum Kind: String, Sendable {
        case like
        /// The photo is excluded from the slideshow.
        case hidden
        /// The photo is the current one of the slideshow.
        case current
    }

    let user: Int64
    let kind: Kind
}

extension PhotoFile {
    /// Returns true if the file at the path of a marked photo is an edit of it, and false if it is another photo. In doubt
    /// the result is false, because a photo that was never marked must not be shown as marked.
    ///
    /// - Parameters:
    ///   - other: The content of the file now.
    ///   - wasFree: True if the name was free since the last scan, false if events show that it was not; nil if it is
    ///     unknown because the folder was not watched, or because the file is behind a link.
    /// - Returns: True for an edit.
    func isEdited(as other: FileDigest, wasFree: Bool?) -> Bool {
        if let before = content?.taken, let after = other.taken { return before.matches(after) }
        if let wasFree { return !wasFree }
        guard stamp.inode == other.stamp.inode, let content else {
            return stamp.inode == other.stamp.inode
        }
        // Only the time of creation distinguishes a file from a later one with the same inode.
        return content.birth != nil && content.birth == other.birth
    }

    /// Returns true if the capture times prove that a file is another photo.
    func isOtherPhoto(_ other: FileDigest) -> Bool {
        guard let before = content?.taken, let after = other.taken else { return false }
        return !before.matches(after)
    }
}
