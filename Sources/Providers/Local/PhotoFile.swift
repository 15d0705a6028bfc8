internal import EngineModel

/// A photo, and the file by which it is recognized if a user has marked it.
///
/// A mark is something durable that a user has attached to a photo. It stays with the path while the file is edited: written
/// in place, or replaced by a rename over a name that no events show to have been free. If they show that, the photo at the
/// path is the same if its image data is equal; else the mark follows the file if events show where it was moved, also
/// after an edit; else it follows equal image data to where it is; else the photo is missing. If the image data appears
/// again, for example from the trash, so do the marks. ``FolderScan`` decides this. The ID never changes, and no other
/// photo gets it.
struct PhotoFile: Sendable, Equatable {
    /// The ID of the photo, which is its row in the index.
    let id: Int64
    /// The pictures folder in which the photo was found last, as an absolute path.
    var root: [UInt8]
    /// The last known path below it.
    var path: RelativePath
    var stamp: FileStamp
    /// The last known image data.
    var digest: FileDigest
    /// True if there was no file at the path, or another photo: another file there is no edit.
    var isGone = false
}

/// A mark of a photo.
struct Mark: Hashable, Sendable {
    let user: Int64
    let kind: PhotoMark
}
