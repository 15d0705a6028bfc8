internal import EngineModel
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// The likes and other marks of the local users.
///
/// A mark belongs to the ID of a photo. ``FolderScan`` gives this ID to the file that the photo is in, so that marks and
/// IDs survive moves, restarts and the loss of the cache. The state has no paths and contents; it is read by each page.
/// It changes on the queue of the database, after the change was stored.
final class LocalMarks: Sendable {
    private struct State {
        var isLoaded = false
        /// The numbers of the known users, by ``UserName/key``.
        var users: [String: Int64] = [:]
        /// The marks of each marked photo.
        var photos: [Int64: Set<Mark>] = [:]
        /// The marked photos that are in the index.
        var found: Set<Int64> = []

        /// Returns the photos in the index that a user likes.
        func liked(_ user: Int64?) -> Set<Int64> {
            guard let user else { return [] }
            let like = Mark(user: user, kind: .like)
            // The optimizer of Swift 6.3.1 fails on `filter` with a closure that reads `photos`.
            var liked: Set<Int64> = []
            for id in found where photos[id]?.contains(like) == true { liked.insert(id) }
            return liked
        }

        /// Replaces the marks of photos.
        mutating func set(_ ids: Set<Int64>, _ marks: [Int64: Set<Mark>]) {
            for id in ids { photos[id] = marks[id] }
            for id in ids where marks[id] == nil { found.remove(id) }
        }
    }

    private let state = Mutex(State())
    private let store: Store
    let digests: DigestReader

    /// - Parameters:
    ///   - store: The store with ``LocalProvider/format``.
    ///   - files: Makes the file system calls.
    init(_ store: Store, _ files: FileThreads) {
        self.store = store
        digests = DigestReader(files)
    }

    /// Reads the stored marks, once, or again.
    ///
    /// - Throws: `StorageError`; then the next call reads the marks again.
    func load(again: Bool = false) async throws {
        if again { state.withLock { $0.isLoaded = false } }
        guard !state.withLock(\.isLoaded) else { return }
        try await store.run { [self] database in
            guard !state.withLock(\.isLoaded) else { return }
            var new = State()
            try database.query("SELECT key, number FROM user") { row throws(StorageError) in
                new.users[row.text(0)] = row.integer(1)
            }
            new.photos = try Self.marks(of: nil, database)
            new.isLoaded = true
            state.withLock { state in
                new.found = state.found.intersection(new.photos.keys)
                state = new
            }
            database.releaseMemory()
        }
    }

    // MARK: Marked photos

    /// Returns photos with the likes of a user.
    func mark(_ photos: [Photo], for user: String) -> [Photo] {
        state.withLock { state in
            let like = state.users[user].map { Mark(user: $0, kind: .like) }
            return photos.map { photo in
                guard let marks = photo.id.row.flatMap({ state.photos[$0] }) else { return photo }
                var photo = photo
                photo.isLiked = like.map(marks.contains) ?? false
                let count = marks.count { $0.kind == .like }
                photo.likes = count > 0 ? count : nil
                return photo
            }
        }
    }

    /// Returns all photos in the index that a user likes.
    func rows(of user: String) -> [Int64] { state.withLock { Array($0.liked($0.users[user])) } }

    /// Returns the number of photos that a user likes.
    func count(of user: String) -> Int { rows(of: user).count }

    /// Returns true if the ID belongs to a marked photo.
    func contains(_ id: Int64) -> Bool { state.withLock { $0.photos[id] != nil } }

    /// The marked photos that are not in the index.
    var missing: Set<Int64> { state.withLock { Set($0.photos.keys).subtracting($0.found) } }

    /// True if there are no marked photos.
    var isEmpty: Bool { state.withLock(\.photos.isEmpty) }

    /// Records which photos an index contains.
    func begin(_ index: PictureIndex) throws {
        let ids = state.withLock { Array($0.photos.keys) }
        let found = Set(try ids.filter { try index.file($0)?.format != nil })
        state.withLock { $0.found = found }
    }

    // MARK: Marking

    /// Adds or removes the mark of a photo.
    ///
    /// - Parameters:
    ///   - isMarked: True to add it.
    ///   - kind: The purpose of the mark.
    ///   - user: The ``UserName/key`` of the user.
    ///   - root: The pictures folder.
    ///   - find: Finds the photo in the index.
    /// - Returns: True if the marks have changed.
    /// - Throws: The error of `find`; `ProviderError.noSuchUser`, `.failed` for a file that cannot be read;
    ///   `StorageError`.
    func set(
        _ isMarked: Bool, _ kind: PhotoMark = .like, by user: String, below root: [UInt8],
        _ find: () async throws -> PictureIndex.File
    ) async throws -> Bool {
        var photo = try await find()
        guard let number = try await number(of: user) else {
            throw ProviderError.noSuchUser(
                Message(
                    "The user does not exist any more; log in and register the same name again."))
        }
        let mark = Mark(user: number, kind: kind)
        guard state.withLock({ $0.photos[photo.id]?.contains(mark) == true }) != isMarked else {
            // Another file without the mark may be in place of the store's.
            try await store.run { _ in }
            return false
        }
        guard isMarked else { return try await remove(mark, [photo.id]) }
        var isNew = false
        while true {
            if try await store(mark, true, [file(of: photo, below: root)]) { isNew = true }
            // A scan that did not know of the mark may have found another file meanwhile.
            let now = try await find()
            guard now.stamp != photo.stamp else { return isNew }
            photo = now
        }
    }

    /// Makes `ids` the only photos with a mark of a user.
    ///
    /// - Parameters:
    ///   - kind: The purpose of the mark.
    ///   - ids: The photos. Unknown ones are ignored.
    ///   - user: The ``UserName/key`` of the user.
    ///   - root: The pictures folder.
    ///   - find: Finds a photo in the index.
    /// - Throws: See ``set(_:_:by:below:_:)``.
    func setAll(
        _ kind: PhotoMark, _ ids: Set<Int64>, by user: String, below root: [UInt8],
        _ find: (Int64) async throws -> PictureIndex.File
    ) async throws {
        guard let number = try await number(of: user) else { return }
        let mark = Mark(user: number, kind: kind)
        let before = state.withLock { state in
            Set(state.photos.filter { $0.value.contains(mark) }.keys)
        }
        for id in ids.subtracting(before) {
            do {
                _ = try await set(true, kind, by: user, below: root) { try await find(id) }
            } catch ProviderError.notFound {}
        }
        let others = before.subtracting(ids)
        if !others.isEmpty { _ = try await remove(mark, others) }
    }

    private func file(of photo: PictureIndex.File, below root: [UInt8]) async throws -> PhotoFile {
        let (id, path) = (photo.id, photo.path)
        let known = try await store.run { try Self.files([id], $0).first }
        if let known, known.root == root, known.path == path,
            known.stamp.content == photo.stamp.content
        {
            return known
        }
        let absolute = path.absolute(below: root)
        guard let result = await digests.digest(ofFile: absolute), let digest = result.digest
        else {
            throw await digests.isAbsent(absolute)
                ? ProviderError.notFound(Message("The photo does not exist any more."))
                : .failed(Message("The file of the photo cannot be read."))
        }
        return PhotoFile(id: id, root: root, path: path, stamp: result.stamp, digest: digest)
    }

    private func remove(_ mark: Mark, _ ids: Set<Int64>) async throws -> Bool {
        let files = try await store.run { try Self.files(ids, $0) }
        return try await store(mark, false, files)
    }

    /// Adds a mark to photos or removes it, and removes it from missing photos of the same image data, which would restore
    /// it.
    ///
    /// - Returns: True if the marks of the photos have changed.
    private func store(_ mark: Mark, _ isMarked: Bool, _ files: [PhotoFile]) async throws -> Bool {
        try await store.run { [self] database in
            let insert = "INSERT OR IGNORE INTO mark (user, photo, kind) VALUES (?, ?, ?)"
            let delete = "DELETE FROM mark WHERE user = ? AND photo = ? AND kind = ?"
            var changed: Set<Int64> = []
            func change(_ sql: String, _ id: Int64) throws(StorageError) {
                try database.query(
                    sql, [.integer(mark.user), .integer(id), .text(mark.kind.rawValue)])
                if database.changedRows > 0 { changed.insert(id) }
            }
            try database.transaction { () throws(StorageError) in
                for file in files {
                    let others = try Self.copies(of: file, database).filter(missing.contains)
                    for other in others { try change(delete, other) }
                    if isMarked { try Self.write(file, database) }
                    try change(isMarked ? insert : delete, file.id)
                }
                try Self.deleteUnmarked(database)
            }
            let marks = try Self.marks(of: changed, database)
            return state.withLock { state in
                if isMarked { state.found.formUnion(files.map(\.id)) }
                state.set(changed, marks)
                return !changed.isDisjoint(with: files.map(\.id))
            }
        }
    }

    /// Returns the number of a user; nil for an unknown one. A user may have been registered since the last load.
    private func number(of user: String) async throws -> Int64? {
        try await load(again: state.withLock { $0.users[user] == nil })
        return state.withLock { $0.users[user] }
    }

    // MARK: Scans

    /// Returns the stored files of photos. Blocks, unless there are none.
    func storedFiles(_ ids: some Collection<Int64>) throws -> [PhotoFile] {
        ids.isEmpty ? [] : try store.runAndWait { try Self.files(ids, $0) }
    }

    /// Stores the decision of a scan. While the file cannot be written, the decision is kept in memory. Blocks.
    ///
    /// - Parameters:
    ///   - files: The photos that are in the index now, and whose file has moved or changed.
    ///   - lostFiles: The photos whose image data is nowhere. Their likes move to another photo of the same image data.
    ///   - hidden: The photos that are not shown any more, although their files exist, or that are being edited.
    /// - Returns: The number of photos that each user with changed likes likes now in addition, by ``UserName/key``, and
    ///   the photos that have new likes.
    /// - Throws: `StorageError`.
    func commit(
        _ files: [PhotoFile], lost lostFiles: [PhotoFile], hidden: Set<Int64> = []
    ) throws -> (gained: [String: Int], photos: Set<Int64>) {
        do {
            return try commit(files, lostFiles, hidden, isStored: true)
        } catch StorageError.readOnly {
            return try commit(files, lostFiles, hidden, isStored: false)
        }
    }

    private func commit(
        _ files: [PhotoFile], _ lostFiles: [PhotoFile], _ hidden: Set<Int64>, isStored: Bool
    ) throws -> (gained: [String: Int], photos: Set<Int64>) {
        let (found, lost) = (Set(files.map(\.id)), Set(lostFiles.map(\.id)).union(hidden))
        let present = state.withLock { $0.found.union(found).subtracting(lost) }
        return try store.runAndWait { [self] database in
            let recipients =
                isStored ? try Self.write(files, lost: lostFiles, present, database) : []
            let changed = recipients.union(lost).union(found)
            let marks = try Self.marks(of: changed, database)
            return state.withLock { state in
                let before = state.users.mapValues { state.liked($0) }
                state.found.formUnion(found)
                state.set(changed, marks)
                state.found.subtract(lost)
                var gained: [String: Int] = [:]
                for (name, user) in state.users {
                    let (liked, known) = (state.liked(user), before[name] ?? [])
                    if liked != known { gained[name] = liked.subtracting(known).count }
                }
                return (gained, recipients)
            }
        }
    }

    // MARK: Rows

    /// Returns the marks of photos; those of all marked photos for nil.
    private static func marks(
        of ids: Set<Int64>?, _ database: Database
    ) throws(StorageError) -> [Int64: Set<Mark>] {
        var marks: [Int64: Set<Mark>] = [:]
        let condition = ids == nil ? "" : "WHERE photo IN (SELECT value FROM json_each(?))"
        try database.query(
            "SELECT photo, user, kind FROM mark \(condition)",
            ids.map { [PictureIndex.list(Array($0))] } ?? []
        ) { row throws(StorageError) in
            let photo = row.anyInteger(0)
            marks[photo] = marks[photo] ?? []
            guard let kind = PhotoMark(rawValue: row.text(2)) else { return }
            marks[photo]?.insert(Mark(user: row.integer(1), kind: kind))
        }
        return marks
    }

    /// Returns the stored files of photos, in a constant order.
    private static func files(
        _ ids: some Sequence<Int64>, _ database: Database
    ) throws(StorageError) -> [PhotoFile] {
        try database.all(
            """
            SELECT id, root, path, inode, size, modified, digest, bytes, is_gone FROM marked
            WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id
            """, [PictureIndex.list(Array(ids))]
        ) { row in
            PhotoFile(
                id: row.anyInteger(0), root: row.blob(1), path: RelativePath(bytes: row.blob(2)),
                stamp: FileStamp(row, at: 3),
                digest: FileDigest(bytes: row.blob(6), count: row.integer(7)),
                isGone: row.integer(8) != 0)
        }
    }

    /// Writes the decision of a scan.
    ///
    /// - Returns: The photos that have new likes.
    private static func write(
        _ files: [PhotoFile], lost: [PhotoFile], _ present: Set<Int64>, _ database: Database
    ) throws(StorageError) -> Set<Int64> {
        var recipients: Set<Int64> = []
        try database.transaction { () throws(StorageError) in
            for file in files where try !Self.files([file.id], database).isEmpty {
                try write(file, database)
            }
            for file in lost {
                for other in try copies(of: file, database).filter(present.contains) {
                    // A user that likes both photos likes the lost one on.
                    try database.query(
                        "UPDATE OR IGNORE mark SET photo = ? WHERE photo = ? AND kind = 'like'",
                        [.integer(other), .integer(file.id)])
                    if database.changedRows > 0 { recipients.insert(other) }
                }
            }
            try database.query(
                "UPDATE marked SET is_gone = 1 WHERE id IN (SELECT value FROM json_each(?))",
                [PictureIndex.list(lost.map(\.id))])
            try deleteUnmarked(database)
        }
        return recipients
    }

    private static func write(_ file: PhotoFile, _ database: Database) throws(StorageError) {
        try database.query(
            """
            INSERT INTO marked (id, root, path, inode, size, modified, digest, bytes, is_gone)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET root = excluded.root, path = excluded.path,
                inode = excluded.inode, size = excluded.size, modified = excluded.modified,
                digest = excluded.digest, bytes = excluded.bytes, is_gone = excluded.is_gone
            """,
            [
                .integer(file.id), .blob(file.root), .blob(file.path.bytes),
                .integer(file.stamp.inode), .integer(file.stamp.sizeBytes),
                .integer(file.stamp.modified), .blob(file.digest.bytes),
                .integer(file.digest.count), .integer(file.isGone ? 1 : 0),
            ])
    }

    /// Returns the other marked photos with the image data of a photo, in a constant order.
    private static func copies(
        of file: PhotoFile, _ database: Database
    ) throws(StorageError) -> [Int64] {
        try database.all(
            "SELECT id FROM marked WHERE digest = ? AND id <> ? ORDER BY id",
            [.blob(file.digest.bytes), .integer(file.id)]
        ) { $0.anyInteger(0) }
    }

    /// Deletes the files of photos that have no marks any more.
    static func deleteUnmarked(_ database: Database) throws(StorageError) {
        try database.query(
            "DELETE FROM marked WHERE NOT EXISTS (SELECT 1 FROM mark WHERE photo = id)")
    }
}
