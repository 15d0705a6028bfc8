internal import Logging
internal import ProviderKit
internal import Storage

/// The likes of those who look at the folder.
extension PictureFolder: PictureSearch {
    /// Matches likes with the index, and notifies the users whose likes have changed.
    ///
    /// - Parameter changes: The changes that a scan has found; nil for a scan of everything.
    func followLikes(_ changes: IndexChanges?) async {
        await favourites.reconcile(changes, self) { user, change in
            let photos = try? await inspect { index in
                try change.rows.compactMap { try index.picture($0) }.map { Photo($0) }
            }
            if let photos, !photos.isEmpty {
                tell(.changed(favourites.mark(photos, for: user)), to: user)
            }
            if change.gained > 0 {
                tell(.updated(LocalSource.likes.id, new: change.gained), to: user)
            }
            tellLikes(of: user)
        }
    }

    /// Prepares the likes for the index of another folder, or for a new index.
    ///
    /// - Parameter root: The folder that the index was about; nil for a new one.
    func moveLikes(from root: [UInt8]?) async {
        do {
            if root == nil {
                try await favourites.resetLocations()
            } else {
                try await favourites.forgetLocations()
            }
        } catch {
            // Photos can be shown without. The next scan finds liked files all the same.
            logger.error(
                "The locations of liked files cannot be stored", metadata: ["reason": "\(error)"])
        }
    }

    /// Tells a user how many photos they like.
    func tellLikes(of user: String) {
        tell(.likes(count: favourites.count(of: user)), to: user)
    }

    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        guard !isStopped else { throw CancellationError() }
        let root = root
        return try await database.reader.run { database in
            let result = try database.snapshot { () throws(StorageError) in
                Result {
                    let index = PictureIndex(database)
                    // All folders share one database. Its rows may be those of another folder by now.
                    guard try index.root == root else { throw CancellationError() }
                    return try body(index)
                }
            }
            return try result.get()
        }
    }

    func store(_ contents: [Int64: FileDigest]) async {
        let root = root
        // Contents that cannot be stored are read again some time.
        try? await database.writer.run { database in
            let index = PictureIndex(database)
            try database.transaction { () throws(StorageError) in
                guard try index.root == root else { return }
                for (row, content) in contents { try index.setContent(content, of: row) }
            }
        }
    }

    func digest(_ path: RelativePath, _ reader: DigestReader) async -> FileDigest? {
        await reader.digest(ofFile: absolute(path))
    }

    func absolute(_ path: RelativePath) -> [UInt8] {
        root + [UInt8(ascii: "/")] + path.bytes
    }
}

extension LocalLikes {
    /// Photos as a user is to see them.
    func mark(_ photos: [Photo], for user: String) -> [Photo] {
        let liked = liked(photos.lazy.compactMap(\.id.row), by: user)
        guard !liked.isEmpty else { return photos }
        return photos.map { photo in
            var photo = photo
            photo.isLiked = photo.id.row.map(liked.contains) ?? false
            return photo
        }
    }
}
