internal import ProviderKit
internal import Storage

/// The likes of those who look at the folder.
extension PictureFolder: PictureSearch {
    /// Lets likes follow their files, and tells those whose likes they are.
    ///
    /// - Parameter changes: What a scan has found; nil for a scan of everything.
    func followLikes(_ changes: IndexChanges?) async {
        for (user, change) in await favourites.settle(changes, self) {
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

    /// Tells a user how many photos they like.
    func tellLikes(of user: String) {
        tell(.likes(count: favourites.count(of: user)), to: user)
    }

    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        try await database.reader.run { database in
            let result = try database.snapshot { () throws(StorageError) in
                Result { try body(PictureIndex(database)) }
            }
            return try result.get()
        }
    }

    func note(_ digests: [Int64: FileDigest]) async {
        // What is not noted is read again some time.
        try? await database.writer.run { database in
            let index = PictureIndex(database)
            try database.transaction { () throws(StorageError) in
                for (row, digest) in digests { try index.note(digest, of: row) }
            }
        }
    }

    func absolute(_ path: RelativePath) -> [UInt8] {
        Array(root.utf8) + [UInt8(ascii: "/")] + path.bytes
    }
}

extension Favourites {
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
