internal import EngineModel
package import ProviderKit
package import Storage

/// A photo of the cache.
nonisolated package struct CachedPhoto: Hashable, Sendable {
    package var remote: RemotePhoto
    /// The time of the last like or unlike by this program; 0 if there was none.
    package var likeConfirmed = Timestamp(secondsSince1970: 0)
    /// True if the size was read from an image, because the service does not state it.
    var isMeasured = false

    package init(remote: RemotePhoto) { self.remote = remote }

    /// True if an image can show that the photo has another size.
    package var isSizeUncertain: Bool { isMeasured || photo.width == nil || photo.height == nil }

    package var photo: Photo { remote.photo }
}

/// Returns the liked state of a photo that the service may not know yet; nil if the state of the service is stored. It is
/// nil if the service knows all states.
package typealias LikeOverlay = (@Sendable (PhotoID) -> Bool?)?

/// The photos of an account, each in one row.
nonisolated package struct FeedPhotos {
    let database: Database
    let account: AccountID

    /// The columns of the table after the account and the ID: those of the properties, then the others.
    private static let changingColumns =
        PhotoField.described.flatMap { $0.columns.map(\.name) }
        + [
            "is_liked", "thumb", "small", "regular", "full", "note", "like_confirmed",
            "is_measured",
        ]
    /// The columns that ``photo(_:)`` reads.
    static let columns = (["id"] + changingColumns).map { "photo.\"\($0)\"" }
        .joined(separator: ", ")
    static let columnCount = Int32(changingColumns.count) + 1

    private static let insertion: String = {
        let names = changingColumns.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = Array(repeating: "?", count: changingColumns.count + 2).joined(separator: ", ")
        let newValues = changingColumns.map { "excluded.\"\($0)\"" }.joined(separator: ", ")
        return """
            INSERT INTO photo (account, id, \(names)) VALUES (\(places))
            ON CONFLICT (account, id) DO UPDATE SET (\(names)) = (\(newValues))
            """
    }()

    static func photo(_ row: borrowing Row) -> CachedPhoto {
        var photo = Photo(id: PhotoID(row.text(0)))
        var column: Int32 = 1
        let properties = PhotoProperty.described
        for index in properties.indices {
            properties[index].read(&photo, row, column)
            column += properties[index].columnCount
        }
        photo.isLiked = row.integer(column) != 0
        var images: [ImageSize: String] = Dictionary(minimumCapacity: 4)
        for size in ImageSize.allCases {
            column += 1
            images[size] = row.optionalText(column)
        }
        var cached = CachedPhoto(
            remote: RemotePhoto(photo, images: images, note: row.text(column + 1)))
        cached.likeConfirmed = Timestamp(secondsSince1970: row.integer(column + 2))
        cached.isMeasured = row.optionalInteger(column + 3) == 1
        return cached
    }

    package func photo(_ id: PhotoID) throws(StorageError) -> CachedPhoto? {
        try database.first(
            "SELECT \(Self.columns) FROM photo WHERE account = ? AND id = ?", values(id),
            Self.photo)
    }

    private func values(_ id: PhotoID) -> [SQLValue] { [.text(account.text), .text(id.text)] }

    func hasPhoto(_ id: PhotoID) throws(StorageError) -> Bool {
        try database.exists("SELECT 1 FROM photo WHERE account = ? AND id = ?", values(id))
    }

    /// Returns the photos that are known to be liked, the latest like first.
    package func likedPhotos() throws(StorageError) -> [RemotePhoto] {
        try database.all(
            """
            SELECT \(Self.columns) FROM photo WHERE account = ? AND is_liked
            ORDER BY like_confirmed DESC, created DESC, id DESC LIMIT 500
            """, [.text(account.text)]
        ) { Self.photo($0).remote }
    }

    /// Inserts the rows of photos that are not cached, before the page that contains them is stored.
    ///
    /// No source contains the photos yet. If the page is not stored, the bounds of the cache delete the rows.
    ///
    /// - Returns: The photos that were inserted.
    /// - Throws: ``StorageError``.
    func prepare(
        _ photos: [RemotePhoto], _ overlay: LikeOverlay
    ) throws(StorageError) -> [PhotoID] {
        var inserted: [PhotoID] = []
        for photo in photos where try !hasPhoto(photo.photo.id) {
            _ = try upsert(photo, overlay)
            inserted.append(photo.photo.id)
        }
        return inserted
    }

    /// Stores a photo that the service sent.
    ///
    /// - Parameters:
    ///   - remote: The photo.
    ///   - overlay: The liked states that the service may not know yet.
    /// - Returns: The photo and true if its liked state changed; nil if the photo was not cached or has not changed.
    /// - Throws: ``StorageError``.
    package func upsert(
        _ remote: RemotePhoto, _ overlay: LikeOverlay = nil
    ) throws(StorageError) -> (photo: Photo, isOtherLike: Bool)? {
        let known = try photo(remote.photo.id)
        let shown = overlay?(remote.photo.id)
        var new = CachedPhoto(remote: remote)
        new.remote.hasLikeState = true
        new.remote.entry = nil
        if let known {
            new.likeConfirmed = known.likeConfirmed
            if !remote.hasLikeState || shown != nil {
                new.remote.photo.isLiked = known.photo.isLiked
                new.remote.photo.likes = known.photo.likes
            }
            if known.isMeasured, new.isSizeUncertain, known.remote.images == remote.images {
                new.remote.photo.width = known.photo.width
                new.remote.photo.height = known.photo.height
                new.isMeasured = true
            }
        }
        if let shown { new.remote.photo.isLiked = shown }
        guard new != known else { return nil }
        try write(new)
        guard let known, known.photo != new.photo else { return nil }
        return (new.photo, known.photo.isLiked != new.photo.isLiked)
    }

    /// Stores the liked state of a photo.
    ///
    /// - Parameters:
    ///   - id: The photo. A photo that is not cached is ignored.
    ///   - isLiked: The liked state.
    ///   - likes: The number of likes of the photo; nil if unknown. In that case, the cached number
    ///     is incremented or decremented.
    ///   - confirmed: The time of the confirmation by the service.
    /// - Returns: The changed photo; nil if it is not cached.
    /// - Throws: ``StorageError``.
    package func setLiked(
        _ id: PhotoID, _ isLiked: Bool, likes: Int?, confirmed: Timestamp
    ) throws(StorageError) -> Photo? {
        guard var photo = try photo(id) else { return nil }
        let wasLiked = photo.photo.isLiked
        photo.remote.photo.isLiked = isLiked
        if let likes {
            photo.remote.photo.likes = likes
        } else if isLiked != wasLiked, let before = photo.photo.likes {
            photo.remote.photo.likes = max(0, before + (isLiked ? 1 : -1))
        }
        photo.likeConfirmed = confirmed
        try write(photo)
        return photo.photo
    }

    /// Stores the size of an image as the size of a photo, unless the service states the size, or a larger image was
    /// measured.
    ///
    /// - Returns: The changed photo; nil if it has not changed.
    /// - Throws: ``StorageError``.
    package func setSize(
        _ id: PhotoID, _ width: Int, _ height: Int
    ) throws(StorageError) -> Photo? {
        guard var photo = try photo(id), photo.isSizeUncertain,
            !photo.isMeasured || width > photo.photo.width ?? 0
        else { return nil }
        photo.remote.photo.width = width
        photo.remote.photo.height = height
        photo.isMeasured = true
        try write(photo)
        return photo.photo
    }

    /// Returns the photos of a like group that are cached.
    ///
    /// - Parameters:
    ///   - id: A photo of the group, which is the first of the result if it is cached.
    ///   - beginning: The common prefix of the IDs of the group; nil if the photo is liked alone.
    /// - Returns: The photos, the others in the order of their IDs.
    /// - Throws: ``StorageError``.
    package func likeGroup(
        of id: PhotoID, _ beginning: String?
    ) throws(StorageError) -> [CachedPhoto] {
        let first = try photo(id).map { [$0] } ?? []
        guard let beginning else { return first }
        let others = try database.all(
            """
            SELECT \(Self.columns) FROM photo
            WHERE account = ?1 AND id >= ?3 AND id < ?3 || char(0x10FFFF) AND id <> ?2 ORDER BY id
            """, values(id) + [.text(beginning)], Self.photo)
        return first + others
    }

    /// Removes a photo that no longer exists at the service from every source.
    package func remove(_ id: PhotoID) throws(StorageError) {
        try database.query("DELETE FROM photo WHERE account = ? AND id = ?", values(id))
        try database.query(
            """
            DELETE FROM entry WHERE photo = ?2
                AND source IN (SELECT key FROM source WHERE account = ?1)
            """, values(id))
    }

    // MARK: Photos of no source

    /// Deletes photos that are no longer in any source. Liked photos remain, because they are counted;
    /// ``FeedTables/limitBytes(preferring:)`` limits them.
    ///
    /// - Parameter photos: Photos that have left a source.
    /// - Returns: The photos that were deleted.
    /// - Throws: ``StorageError``.
    func sweep(_ photos: [PhotoID]) throws(StorageError) -> [PhotoID] {
        var forgotten: [PhotoID] = []
        for id in photos {
            try database.query(
                """
                DELETE FROM photo WHERE account = ?1 AND id = ?2 AND NOT is_liked
                    AND NOT EXISTS (SELECT 1 FROM source JOIN entry INDEXED BY entry_photo
                        ON entry.source = source.key AND entry.photo = ?2
                            AND entry.died = \(FeedOrder.never)
                        WHERE source.account = ?1)
                """, values(id))
            if database.changedRows > 0 { forgotten.append(id) }
        }
        return forgotten
    }

    /// Deletes the photos that are in no source and not liked.
    func forgetUnshown() throws(StorageError) {
        try database.query(
            "DELETE FROM photo WHERE account = ?1 AND NOT is_liked AND \(Self.isUnshown)",
            [.text(account.text)])
    }

    /// Deletes photos that no source contains and that only the service has reported as liked, until a number of bytes
    /// is free.
    func forgetReportedLikes(_ bytes: Int) throws(StorageError) {
        try database.query(
            """
            DELETE FROM photo WHERE account = ?1 AND id IN (
                SELECT id FROM (
                    SELECT id, sum(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS above
                    FROM photo WHERE account = ?1 AND is_liked AND like_confirmed = 0
                        AND \(Self.isUnshown))
                WHERE above < ?2)
            """, [.text(account.text), .integer(bytes)])
    }

    /// The condition for a photo of the account `?1` that no source contains.
    private static let isUnshown = """
        id NOT IN (SELECT photo FROM entry WHERE died = \(FeedOrder.never) AND source IN (
            SELECT key FROM source WHERE account = ?1))
        """

    private func write(_ cached: CachedPhoto) throws(StorageError) {
        let photo = cached.photo
        var values = values(photo.id)
        for property in PhotoProperty.described { property.append(photo, &values) }
        values.append(.bool(photo.isLiked))
        values += ImageSize.allCases.map { .text(cached.remote.images[$0]) }
        values.append(.text(cached.remote.note))
        values.append(.integer(cached.likeConfirmed.secondsSince1970))
        values.append(.bool(cached.isMeasured))
        try database.query(Self.insertion, values)
    }
}
