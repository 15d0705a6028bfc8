internal import Glibc
internal import ProviderKit
internal import Storage
internal import System
internal import Translation

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
            try createPrivateFolder(folder)
        } catch {
            throw ProviderError(error)
        }
        let link = link(id)
        unlink(link)
        guard withCPath(path, { symlink($0, link) }) == 0 || errno == EEXIST else {
            if errno == ENOSPC || errno == EDQUOT { throw .storageFull }
            throw .failed(
                Message(
                    "The link {file} cannot be created: {reason}.",
                    ["file": link, "reason": String(cString: strerror(errno))]))
        }
        return link
    }

    /// Removes the link of a deleted photo.
    func remove(_ row: Int64) { unlink(link(PhotoID(row: row))) }

    /// Removes the link to a photo if it does not lead to the path of the photo. Does not access the photo itself.
    func update(_ row: Int64, _ path: [UInt8]) {
        let target = PathBytes(link(PhotoID(row: row))).linkTarget
        if let target, target.bytes != path { remove(row) }
    }

    /// Removes all links.
    func removeAll() {
        guard let listing = try? DirectoryListing(folder) else { return }
        for name in listing.names(.link, .unknown) {
            withCPath(Array("\(folder)/".utf8) + name) { _ = unlink($0) }
        }
    }

    private func link(_ id: PhotoID) -> String { "\(folder)/\(id)" }
}
