internal import Logging
internal import ProviderKit
internal import Storage

/// The likes of the users of the folder.
extension PictureFolder: PictureSearch {
    /// Matches likes with the index, and notifies the users whose likes have changed.
    ///
    /// - Parameter changes: The changes that a scan has found; nil for a scan of everything.
    func reconcileLikes(_ changes: IndexChanges?) async {
        await likes.reconcile(changes, self) { user, change in
            let photos = try? await inspect { index in
                try change.rows.compactMap { try index.picture($0) }
            }
            if let photos, !photos.isEmpty {
                emit(.changed(likes.mark(photos.map { photo($0) }, for: user)), to: user)
            }
            if change.gained > 0 {
                emit(.updated(LocalSource.likes.id, new: change.gained), to: user)
            }
            emitLikeCount(of: user)
        }
    }

    /// Prepares the likes for the index of another folder, or for a new index.
    ///
    /// - Parameter root: The folder of the former index; nil for a new index.
    func prepareLikes(from root: [UInt8]?) async {
        do {
            if root == nil {
                try await likes.resetLocations()
            } else {
                try await likes.forgetLocations()
            }
        } catch {
            // Photos can be served without this. The next scan finds liked files anyway.
            logger.error(
                "The locations of liked files cannot be stored", metadata: ["reason": "\(error)"])
        }
    }

    /// Emits the number of photos that a user likes.
    func emitLikeCount(of user: String) {
        emit(.likes(count: likes.count(of: user)), to: user)
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
                    // All folders share one database, which may be in use for another folder by now.
                    guard try index.root == root else { throw CancellationError() }
                    return try body(index)
                }
            }
            return try result.get()
        }
    }

    func store(_ contents: [Int64: FileDigest]) async {
        let root = root
        // Best effort: contents that are not stored are read again later.
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
    /// Returns photos with the likes of a user.
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
