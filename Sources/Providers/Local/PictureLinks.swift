internal import Glibc
internal import ProviderKit
internal import Storage

/// Symbolic links to photos whose paths are not UTF-8, so that every photo has a path that is.
///
/// The links are in a folder of the cache, which may be deleted at any time.
struct PictureLinks: Sendable {
    private let folder: String

    init(cache: String) { folder = "\(cache)/links" }

    /// Creates a link to the photo `id` at `path`.
    ///
    /// - Returns: The path of the link.
    /// - Throws: `ProviderError`.
    func make(_ id: PhotoID, to path: [UInt8]) throws(ProviderError) -> String {
        do {
            try PrivateFolder.create(folder)
        } catch {
            throw ProviderError(error)
        }
        let link = link(id)
        unlink(link)
        guard withCPath(path, { symlink($0, link) }) == 0 || errno == EEXIST else {
            if errno == ENOSPC || errno == EDQUOT { throw .storageFull }
            throw .failed(
                "The link \(link) cannot be created: \(String(cString: strerror(errno))).")
        }
        return link
    }

    /// Removes the links of deleted photos, and links that do not lead to their photos. Does not access the photos
    /// themselves.
    ///
    /// - Parameters:
    ///   - changes: The changes to the index.
    ///   - path: Returns the absolute path of a photo; nil if it is unknown.
    func update(_ changes: IndexChanges, _ path: (Int64) -> [UInt8]?) {
        for row in changes.removed { unlink(link(PhotoID(row: row))) }
        for row in changes.changed {
            let link = link(PhotoID(row: row))
            let target = readLink(Array(link.utf8))
            if !target.isEmpty, target != path(row) { unlink(link) }
        }
    }

    /// Removes all links.
    func removeAll() {
        guard let listing = try? FolderListing(Array(folder.utf8)) else { return }
        for name in listing.others { withCPath(Array("\(folder)/".utf8) + name) { _ = unlink($0) } }
    }

    private func link(_ id: PhotoID) -> String { "\(folder)/\(id)" }
}
