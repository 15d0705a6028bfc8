internal import ProviderKit
internal import Storage

/// A photo of the cache.
nonisolated struct CachedPhoto: Hashable, Sendable {
    var remote: RemotePhoto
    /// The time of the last confirmed like or unlike; 0 if there was none.
    var likeConfirmed = Timestamp(secondsSince1970: 0)

    var photo: Photo { remote.photo }

    /// Returns true if a like or unlike was confirmed within the grace period, in which lists may not show it yet. A
    /// time in the future is from before the clock was set back.
    func isLikeFresh(now: Timestamp) -> Bool {
        likeConfirmed <= now && now < likeConfirmed + FeedTables.likeGracePeriod
    }
}

/// One row per photo.
nonisolated extension FeedTables {
    /// The time after a confirmed like in which lists of the service are ignored, because they may come from caches.
    static let likeGracePeriod = Duration.seconds(600)

    static let photoColumns = """
        photo.id, created, updated, width, height, color, blur_hash, title, description, author,
        author_username, author_url, url, likes, is_liked, is_sensitive, media_type, thumb, small,
        regular, "full", note, like_confirmed, focus_x, focus_y
        """
    static let photoColumnCount: Int32 = 25

    /// The columns of ``photoColumns`` after the ID.
    private static let changingColumns = photoColumns.split { ", \n".contains($0) }.dropFirst()
        .joined(separator: ", ")
    /// The values of ``changingColumns`` of a row that conflicts with another one.
    private static let newValues = changingColumns.split(separator: ", ")
        .map { "excluded.\($0)" }.joined(separator: ", ")

    static func photo(_ row: borrowing Row) -> CachedPhoto {
        var photo = Photo(id: PhotoID(row.text(0)))
        photo.created = row.optionalInteger(1).map(Timestamp.init(secondsSince1970:))
        photo.updated = row.optionalInteger(2).map(Timestamp.init(secondsSince1970:))
        photo.width = row.optionalInteger(3).map(Int.init)
        photo.height = row.optionalInteger(4).map(Int.init)
        photo.color = row.optionalText(5)
        photo.blurHash = row.optionalText(6)
        photo.title = row.optionalText(7)
        photo.description = row.optionalText(8)
        photo.author = row.optionalText(9)
        photo.authorUsername = row.optionalText(10)
        photo.authorURL = row.optionalText(11)
        photo.url = row.optionalText(12)
        photo.likes = row.optionalInteger(13).map(Int.init)
        photo.isLiked = row.integer(14) != 0
        photo.isSensitive = row.optionalInteger(15).map { $0 != 0 }
        photo.mediaType = row.optionalText(16)
        if let x = row.optionalInteger(23), let y = row.optionalInteger(24) {
            photo.focus = FocalPoint(x: Double(x) / 1e6, y: Double(y) / 1e6)
        }
        var images: [ImageSize: String] = [:]
        for (index, size) in ImageSize.allCases.enumerated() {
            images[size] = row.optionalText(17 + Int32(index))
        }
        return CachedPhoto(
            remote: RemotePhoto(photo, images: images, note: row.text(21)),
            likeConfirmed: Timestamp(secondsSince1970: row.integer(22)))
    }

    func photo(_ account: AccountID, _ id: PhotoID) throws(StorageError) -> CachedPhoto? {
        try database.first(
            "SELECT \(Self.photoColumns) FROM photo WHERE account = ? AND id = ?",
            [.text(account.text), .text(id.text)], Self.photo)
    }

    /// Stores a photo that the service sent.
    ///
    /// - Returns: The photo and true if its liked state changed; nil if the photo was not cached or has not changed.
    func upsert(
        _ remote: RemotePhoto, _ account: AccountID, now: Timestamp
    ) throws(StorageError) -> (photo: Photo, isOtherLike: Bool)? {
        let known = try photo(account, remote.photo.id)
        var new = CachedPhoto(remote: remote)
        new.remote.hasLikeState = true
        new.remote.entry = nil
        if let known {
            new.likeConfirmed = known.likeConfirmed
            if !remote.hasLikeState || known.isLikeFresh(now: now) {
                new.remote.photo.isLiked = known.photo.isLiked
                new.remote.photo.likes = known.photo.likes
            }
            guard new != known else { return nil }
        }
        try write(new, account)
        guard let known, known.photo != new.photo else { return nil }
        return (new.photo, known.photo.isLiked != new.photo.isLiked)
    }

    /// Stores the liked state of a photo.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The photo. A photo that is not cached is ignored.
    ///   - isLiked: The liked state.
    ///   - likes: The number of likes of the photo; nil if unknown. In that case, the cached number
    ///     is incremented or decremented.
    ///   - confirmed: The time of the confirmation by the service.
    /// - Returns: The changed photo; nil if it is not cached.
    /// - Throws: ``StorageError``.
    func setLiked(
        _ account: AccountID, _ id: PhotoID, _ isLiked: Bool, likes: Int?, confirmed: Timestamp
    ) throws(StorageError) -> Photo? {
        guard var photo = try photo(account, id) else { return nil }
        let wasLiked = photo.photo.isLiked
        photo.remote.photo.isLiked = isLiked
        if let likes {
            photo.remote.photo.likes = likes
        } else if isLiked != wasLiked, let before = photo.photo.likes {
            photo.remote.photo.likes = max(0, before + (isLiked ? 1 : -1))
        }
        photo.likeConfirmed = confirmed
        try write(photo, account)
        return photo.photo
    }

    /// Returns the like group of a photo.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The photo, which is the first of the result.
    ///   - beginning: The common prefix of the IDs of the group; nil if the photo is liked alone.
    /// - Returns: The IDs, the others in their order.
    /// - Throws: ``StorageError``.
    func photos(
        _ account: AccountID, like id: PhotoID, _ beginning: String?
    ) throws(StorageError) -> [PhotoID] {
        var ids = [id]
        guard let beginning else { return ids }
        try database.query(
            """
            SELECT id FROM photo WHERE account = ?1 AND id >= ?2 AND id < ?2 || char(0x10FFFF)
                AND id <> ?3 ORDER BY id
            """, [.text(account.text), .text(beginning), .text(id.text)]
        ) { row throws(StorageError) in ids.append(PhotoID(row.text(0))) }
        return ids
    }

    /// Removes a photo that no longer exists at the service from every source.
    func removePhoto(_ account: AccountID, _ id: PhotoID) throws(StorageError) {
        try database.query(
            "DELETE FROM photo WHERE account = ? AND id = ?", [.text(account.text), .text(id.text)])
        try database.query(
            """
            DELETE FROM entry WHERE photo = ?2
                AND source IN (SELECT key FROM source WHERE account = ?1)
            """, [.text(account.text), .text(id.text)])
    }

    private func write(_ cached: CachedPhoto, _ account: AccountID) throws(StorageError) {
        let photo = cached.photo
        let images = cached.remote.images
        try database.query(
            """
            INSERT INTO photo (account, id, \(Self.changingColumns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, id) DO UPDATE
                SET (\(Self.changingColumns)) = (\(Self.newValues))
            """,
            [
                .text(account.text), .text(photo.id.text),
                .integer(photo.created?.secondsSince1970),
                .integer(photo.updated?.secondsSince1970),
                .integer(photo.width), .integer(photo.height), .text(photo.color),
                .text(photo.blurHash), .text(photo.title), .text(photo.description),
                .text(photo.author), .text(photo.authorUsername), .text(photo.authorURL),
                .text(photo.url), .integer(photo.likes), .bool(photo.isLiked),
                .integer(photo.isSensitive.map { $0 ? 1 : 0 } as Int?), .text(photo.mediaType),
                .text(images[.thumb]), .text(images[.small]), .text(images[.regular]),
                .text(images[.full]), .text(cached.remote.note),
                .integer(cached.likeConfirmed.secondsSince1970),
                .integer(photo.focus.map { Int64(($0.x * 1e6).rounded()) }),
                .integer(photo.focus.map { Int64(($0.y * 1e6).rounded()) }),
            ])
    }
}
