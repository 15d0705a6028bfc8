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
    private struct Entry {
        let sizeBytes: Int64
        /// The hash of the last known path.
        let pathHash: Int64
        var marks: Set<Mark>
    }

    private struct State {
        var isLoaded = false
        /// The numbers of the known users, by ``UserName/key``.
        var users: [String: Int64] = [:]
        var photos: [Int64: Entry] = [:]
        /// The marked photos that are in the index.
        var found: Set<Int64> = []

        /// Returns the photos in the index that a user likes.
        func liked(_ user: Int64?) -> Set<Int64> {
            guard let user else { return [] }
            let like = Mark(user: user, kind: .like)
            // The optimizer of Swift 6.3.1 fails on `filter` with a closure that reads `photos`.
            var liked: Set<Int64> = []
            for id in found where photos[id]?.marks.contains(like) == true { liked.insert(id) }
            return liked
        }

        /// Replaces the entry of a photo; nil if it has no marks.
        mutating func set(_ id: Int64, _ entry: Entry?) {
            photos[id] = entry
            if entry == nil { found.remove(id) }
        }
    }

    /// The marked photos that are not in the index, by the size and by the hash of the path of their file.
    struct Missing {
        fileprivate(set) var sizes: [Int64: Set<Int64>] = [:]
        fileprivate(set) var paths: [Int64: Set<Int64>] = [:]

        /// Returns the photos that may be a file, by its path or its size.
        func photos(_ path: RelativePath, sizeBytes: Int64) -> Set<Int64> {
            guard !sizes.isEmpty else { return [] }
            return (sizes[sizeBytes] ?? []).union(paths[PictureIndex.firstRow(of: path)] ?? [])
        }
    }

    /// A photo to be marked.
    struct Target: Sendable {
        let picture: PictureIndex.Picture
        /// The absolute path.
        let file: [UInt8]
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

    /// Reads the stored marks, once.
    ///
    /// - Throws: `StorageError`; then the next call reads the marks again.
    func load() async throws {
        guard !state.withLock(\.isLoaded) else { return }
        try await store.run { [self] database in
            guard !state.withLock(\.isLoaded) else { return }
            var new = State()
            try database.query("SELECT key, number FROM user") { row throws(StorageError) in
                new.users[row.text(0)] = row.integer(1)
            }
            let ids = try database.all("SELECT id FROM marked") { $0.integer(0) }
            for id in ids { new.set(id, try Self.entry(id, database)) }
            new.isLoaded = true
            state.withLock { $0 = new }
            database.releaseMemory()
        }
    }

    // MARK: Marked photos

    /// Returns photos with the likes of a user.
    func mark(_ photos: [Photo], for user: String) -> [Photo] {
        state.withLock { state in
            guard !state.photos.isEmpty else { return photos }
            let like = state.users[user].map { Mark(user: $0, kind: .like) }
            return photos.map { photo in
                guard let marks = photo.id.row.flatMap({ state.photos[$0] })?.marks else {
                    return photo
                }
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
    var missing: Set<Int64> {
        state.withLock { Set($0.photos.keys).subtracting($0.found) }
    }

    /// True if there are no marked photos.
    var isEmpty: Bool { state.withLock(\.photos.isEmpty) }

    /// Returns the marked photos that are not in the index, for a scan.
    func missingFiles() -> Missing {
        state.withLock { state in
            var missing = Missing()
            for (id, entry) in state.photos where !state.found.contains(id) {
                missing.sizes[entry.sizeBytes, default: []].insert(id)
                missing.paths[entry.pathHash, default: []].insert(id)
            }
            return missing
        }
    }

    /// Records which photos an index contains.
    func begin(_ index: PictureIndex) throws(StorageError) {
        var found: Set<Int64> = []
        for id in state.withLock({ Array($0.photos.keys) })
        where try index.file(id)?.format != nil {
            found.insert(id)
        }
        state.withLock { $0.found = found }
    }

    // MARK: Marking

    /// Adds or removes the mark of a photo.
    ///
    /// - Parameters:
    ///   - isMarked: True to add it.
    ///   - kind: The purpose of the mark.
    ///   - user: The ``UserName/key`` of the user.
    ///   - find: Finds the photo in the index.
    /// - Returns: True if the marks have changed.
    /// - Throws: The error of `find`; `ProviderError.noSuchUser`, `.failed` for a file that cannot be read;
    ///   `StorageError`.
    func set(
        _ isMarked: Bool, _ kind: Mark.Kind = .like, by user: String,
        _ find: () async throws -> Target
    ) async throws -> Bool {
        try await load()
        var target = try await find()
        guard let number = try await number(of: user) else {
            throw ProviderError.noSuchUser(
                Message(
                    "The user does not exist any more; log in and register the same name again."))
        }
        let mark = Mark(user: number, kind: kind)
        let id = target.picture.file.id
        guard state.withLock({ $0.photos[id]?.marks.contains(mark) == true }) != isMarked else {
            return false
        }
        guard isMarked else { return try await remove(mark, [id]) }
        var isNew = false
        while true {
            if try await add(mark, try await file(of: target)) { isNew = true }
            // A scan that did not know of the mark may have found another file meanwhile.
            let now = try await find()
            guard now.picture.file.stamp != target.picture.file.stamp else { return isNew }
            target = now
        }
    }

    /// Makes `ids` the only photos with a mark of a user.
    ///
    /// - Parameters:
    ///   - kind: The purpose of the mark.
    ///   - ids: The photos. Unknown ones are ignored.
    ///   - user: The ``UserName/key`` of the user.
    ///   - find: Finds a photo in the index.
    /// - Throws: See ``set(_:_:by:_:)``.
    func setAll(
        _ kind: Mark.Kind, _ ids: Set<Int64>, by user: String,
        _ find: (Int64) async throws -> Target
    ) async throws {
        try await load()
        guard let number = try await number(of: user) else { return }
        let mark = Mark(user: number, kind: kind)
        let before = state.withLock { state in
            Set(state.photos.filter { $0.value.marks.contains(mark) }.keys)
        }
        for id in ids.subtracting(before) {
            do {
                _ = try await set(true, kind, by: user) { try await find(id) }
            } catch ProviderError.notFound {}
        }
        let others = before.subtracting(ids)
        if !others.isEmpty { _ = try await remove(mark, others) }
    }

    private func file(of target: Target) async throws -> PhotoFile {
        let (file, path) = (target.picture.file, target.picture.path)
        let known = try await store.run { try Self.file(file.id, $0) }
        if let known, known.path == path, known.stamp.content == file.stamp.content { return known }
        guard let result = await digests.digest(ofFile: target.file), let digest = result.digest
        else {
            throw await digests.isAbsent(target.file)
                ? ProviderError.notFound(Message("The photo does not exist any more."))
                : .failed(Message("The file of the photo cannot be read."))
        }
        return PhotoFile(id: file.id, path: path, stamp: result.stamp, digest: digest)
    }

    private func add(_ mark: Mark, _ file: PhotoFile) async throws -> Bool {
        try await store.run { [self] database in
            let (isNew, others) = try database.transaction { () throws(StorageError) in
                let others = try removeMissing(mark, sameAs: file, database)
                try Self.write(file, database)
                try database.query(
                    "INSERT OR IGNORE INTO mark (user, photo, kind) VALUES (?, ?, ?)",
                    [.integer(mark.user), .integer(file.id), .text(mark.kind.rawValue)])
                return (database.changedRows > 0, others)
            }
            state.withLock { _ = $0.found.insert(file.id) }
            try reload(others + [file.id], database)
            return isNew
        }
    }

    private func remove(_ mark: Mark, _ ids: Set<Int64>) async throws -> Bool {
        try await store.run { [self] database in
            let removed = try database.transaction { () throws(StorageError) in
                var removed: [Int64] = []
                for id in ids {
                    guard let file = try Self.file(id, database) else { continue }
                    removed += try removeMissing(mark, sameAs: file, database) + [file.id]
                    try Self.delete(mark, file.id, database)
                }
                try Self.deleteUnmarked(database)
                return removed
            }
            try reload(removed, database)
            return !removed.isEmpty
        }
    }

    /// Removes a mark from the missing photos of the same image data. Otherwise, one of them would restore the mark.
    private func removeMissing(
        _ mark: Mark, sameAs file: PhotoFile, _ database: Database
    ) throws(StorageError) -> [Int64] {
        let others = try Self.copies(of: file, database).filter(missing.contains)
        for other in others { try Self.delete(mark, other, database) }
        try Self.deleteUnmarked(database)
        return others
    }

    private func number(of user: String) async throws -> Int64? {
        if let number = state.withLock({ $0.users[user] }) { return number }
        let number = try await store.run { database in
            try database.integer("SELECT number FROM user WHERE key = ?", [.text(user)])
        }
        state.withLock { $0.users[user] = number }
        return number
    }

    /// Removes a user from the memory. `delete` deletes the user with all their marks from the database.
    func removeUser(_ user: String, _ delete: () async throws -> Void) async throws {
        try await delete()
        state.withLock { state in
            guard let number = state.users.removeValue(forKey: user) else { return }
            for (id, var entry) in state.photos {
                entry.marks = entry.marks.filter { $0.user != number }
                state.set(id, entry.marks.isEmpty ? nil : entry)
            }
        }
    }

    // MARK: Scans

    /// Returns the stored files of photos. Blocks.
    func storedFiles(_ ids: some Sequence<Int64>) throws -> [PhotoFile] {
        try store.runAndWait { database in
            try ids.sorted().compactMap { try Self.file($0, database) }
        }
    }

    /// Stores the decision of a scan. Blocks.
    ///
    /// - Parameters:
    ///   - files: The photos that are in the index now, and whose file has moved or changed.
    ///   - lostFiles: The photos whose image data is nowhere. Their likes move to another photo of the same image data.
    ///   - hidden: The photos that are not shown any more, although their files exist.
    /// - Returns: The number of photos that each user with changed likes likes now in addition, by ``UserName/key``, and
    ///   the photos that have new likes.
    /// - Throws: `StorageError`.
    func commit(
        _ files: [PhotoFile], lost lostFiles: [PhotoFile], hidden: Set<Int64> = []
    ) throws -> (gained: [String: Int], photos: Set<Int64>) {
        let (found, lost) = (Set(files.map(\.id)), Set(lostFiles.map(\.id)).union(hidden))
        let present = state.withLock { $0.found.union(found).subtracting(lost) }
        return try store.runAndWait { [self] database in
            var recipients: Set<Int64> = []
            try database.transaction { () throws(StorageError) in
                for file in files where try Self.file(file.id, database) != nil {
                    try Self.write(file, database)
                }
                for file in lostFiles {
                    for other in try Self.copies(of: file, database)
                    where present.contains(other) {
                        // A user that likes both photos likes the lost one on.
                        try database.query(
                            "UPDATE OR IGNORE mark SET photo = ? WHERE photo = ? AND kind = 'like'",
                            [.integer(other), .integer(file.id)])
                        if database.changedRows > 0 { recipients.insert(other) }
                    }
                }
                try Self.deleteUnmarked(database)
            }
            let changed = recipients.union(lost).union(found)
            let entries = try changed.map { ($0, try Self.entry($0, database)) }
            return state.withLock { state in
                let before = state.users.mapValues { state.liked($0) }
                state.found.formUnion(found)
                for (id, entry) in entries { state.set(id, entry) }
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

    /// Reads the marks of photos again.
    private func reload(_ ids: [Int64], _ database: Database) throws(StorageError) {
        for id in ids {
            let entry = try Self.entry(id, database)
            state.withLock { $0.set(id, entry) }
        }
    }

    private static func entry(_ id: Int64, _ database: Database) throws(StorageError) -> Entry? {
        guard let file = try file(id, database) else { return nil }
        var entry = Entry(
            sizeBytes: file.stamp.sizeBytes, pathHash: PictureIndex.firstRow(of: file.path),
            marks: [])
        try database.query("SELECT user, kind FROM mark WHERE photo = ?", [.integer(id)]) {
            row throws(StorageError) in
            guard let kind = Mark.Kind(rawValue: row.text(1)) else { return }
            entry.marks.insert(Mark(user: row.integer(0), kind: kind))
        }
        return entry
    }

    private static func file(
        _ id: Int64, _ database: Database
    ) throws(StorageError) -> PhotoFile? {
        try database.first(
            "SELECT path, inode, size, modified, digest, bytes FROM marked WHERE id = ?",
            [.integer(id)]
        ) { row in
            PhotoFile(
                id: id, path: RelativePath(bytes: row.blob(0)), stamp: FileStamp(row, at: 1),
                digest: FileDigest(bytes: row.blob(4), count: row.integer(5)))
        }
    }

    private static func write(_ file: PhotoFile, _ database: Database) throws(StorageError) {
        try database.query(
            """
            INSERT INTO marked (id, path, inode, size, modified, digest, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET path = excluded.path, inode = excluded.inode,
                size = excluded.size, modified = excluded.modified, digest = excluded.digest,
                bytes = excluded.bytes
            """,
            [
                .integer(file.id), .blob(file.path.bytes), .integer(file.stamp.inode),
                .integer(file.stamp.sizeBytes), .integer(file.stamp.modified),
                .blob(file.digest.bytes), .integer(file.digest.count),
            ])
    }

    /// Returns the other marked photos with the image data of a photo, in a constant order.
    private static func copies(
        of file: PhotoFile, _ database: Database
    ) throws(StorageError) -> [Int64] {
        try database.all(
            "SELECT id FROM marked WHERE digest = ? AND id <> ? ORDER BY id",
            [.blob(file.digest.bytes), .integer(file.id)]
        ) { $0.integer(0) }
    }

    private static func delete(
        _ mark: Mark, _ id: Int64, _ database: Database
    ) throws(StorageError) {
        try database.query(
            "DELETE FROM mark WHERE user = ? AND photo = ? AND kind = ?",
            [.integer(mark.user), .integer(id), .text(mark.kind.rawValue)])
    }

    /// Deletes the files of photos that have no marks any more.
    static func deleteUnmarked(_ database: Database) throws(StorageError) {
        try database.query(
            "DELETE FROM marked WHERE NOT EXISTS (SELECT 1 FROM mark WHERE photo = id)")
    }
}
