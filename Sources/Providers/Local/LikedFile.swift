/// The record by which a like follows a local file.
///
/// A like belongs to the content of a file. It never moves to another photo because of a file name:
///
/// - A file with an unchanged inode, size and modification time is the same file, if it is in the same row of the index
///   or at the same path. All others are read.
/// - If the file of a like is gone, or its content was replaced, the content is searched for in the whole pictures
///   folder. Until it is found, the like is stored and not shown. If there are more records of one content than files,
///   the likes of each user move to the remaining files.
/// - Only if the content is not found, and only in the same row of the index, different content can be an edit of the
///   liked file (see ``isEdited(as:wasReplacedAtOnce:)``). The record then stores the new content.
struct LikedFile: Sendable, Equatable {
    /// The number of the record in the store; 0 before it is stored.
    var number: Int64 = 0
    /// The row of the index; nil if the file is gone.
    var row: Int64?
    /// The last known path.
    var path: RelativePath
    /// The last known content.
    var content: FileDigest
}

extension LikedFile {
    /// The maximum time from the creation of a file to its last change, including a rename, for a file that an editor
    /// has just saved, in nanoseconds.
    private static let savingTime: Int64 = 60_000_000_000

    /// Returns true if the file in the row of the liked file is an edit of the liked file, and false if it is another
    /// photo. In doubt the result is false, because a photo that was never liked must not be shown as liked.
    ///
    /// - If both have a capture time, an edit has the same one.
    /// - Otherwise a file is an edit if it was overwritten in place (same inode, same time of creation), or if a file
    ///   that was created at most a minute before replaced it by a rename, without a time at which the name was free.
    ///   The latter is known only while the folder is watched.
    ///
    /// - Parameters:
    ///   - other: The content of the file now.
    ///   - wasReplacedAtOnce: True if file system events prove that the name was never free since the last scan.
    /// - Returns: True for an edit.
    func isEdited(as other: FileDigest, wasReplacedAtOnce: Bool) -> Bool {
        if let before = content.taken, let after = other.taken { return before.matches(after) }
        if let birth = content.birth, birth == other.birth,
            content.stamp.inode == other.stamp.inode
        {
            return true
        }
        guard wasReplacedAtOnce else { return false }
        guard let birth = other.birth else { return true }
        let (age, isOverflow) = other.changed.subtractingReportingOverflow(birth)
        return !isOverflow && age.magnitude <= Self.savingTime.magnitude
    }
}
