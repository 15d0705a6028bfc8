/// The record by which a like follows a local file.
///
/// A like belongs to the content of a file. It is never passed on to another photo because of a file name:
///
/// - A file with an unchanged inode, size and modification time is the same file, if it is in the same row of the index
///   or at the same path. All others are read.
/// - A liked file that is gone, or whose content was replaced, is found again by its content, anywhere in the pictures
///   folder. Until then its likes are kept and not shown. If there are more records of one content than files, each
///   user's likes move to the files that are left.
/// - Only if the content is nowhere, and only in the same row of the index, another content can be an edit of the liked
///   file (see ``isEdited(as:wasReplacedAtOnce:)``). The record then takes on the new content.
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
    /// The longest time between the creation of a file and its last change, a rename included, for a file that an
    /// editor has just written, in nanoseconds.
    private static let savingTime: Int64 = 60_000_000_000

    /// Returns true if the file in the row of the liked file is an edit of it, and false if it is another photo. In
    /// doubt it is another photo: a photo that was never liked must not get a like.
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
