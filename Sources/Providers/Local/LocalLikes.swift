internal import Logging
internal import ProviderKit
internal import Synchronization
internal import System

/// The likes of the local users.
///
/// They are stored as ``LikedFile`` records, so that a like survives a move, a restart and the loss of the cache. In
/// memory a record is a row of the index, shared by all users, so that pages can be marked while they are read. A row
/// belongs to at most one record.
final class LocalLikes: Sendable {
    struct Liked {
        /// The row of the index; nil while the file is gone.
        var row: Int64?
        var users: Set<Int64>
    }

    struct State {
        var isLoaded = false
        /// The numbers of the known users, by ``UserName/key``.
        var users: [String: Int64] = [:]
        /// The records, by the number of the ``LikedFile``.
        var liked: [Int64: Liked] = [:]
        /// The number of the record of a row.
        var numbers: [Int64: Int64] = [:]
        /// The rows of liked files that were changed and are not reconciled yet. True if the name of the file was never
        /// free, false if the row may have another photo.
        var replacements: [Int64: Bool] = [:]
    }

    /// A photo to be liked or unliked.
    struct Target: Sendable {
        let picture: PictureIndex.Picture
        /// The absolute path.
        let file: [UInt8]
    }

    let state = Mutex(State())
    let store: LocalLikeStore
    let digests: DigestReader
    /// Runs changes one at a time.
    let changeQueue = ChangeQueue()
    /// Runs reconciliations that read files one at a time.
    let readQueue = ChangeQueue()
    let logger: Logger

    private let readFile: (@Sendable (_ path: [UInt8]) async -> FileDigest?)?

    /// - Parameters:
    ///   - store: The stored likes.
    ///   - files: Makes the file system calls.
    ///   - logger: Receives failures of reconciliations.
    ///   - readFile: Reads a file to be liked; nil to read from the disk.
    init(
        _ store: LocalLikeStore, _ files: FileThreads, logger: Logger,
        readFile: (@Sendable (_ path: [UInt8]) async -> FileDigest?)? = nil
    ) {
        digests = DigestReader(files)
        self.store = store
        self.logger = logger
        self.readFile = readFile
    }

    /// Reads the stored likes, once.
    ///
    /// - Throws: `StorageError`; then the next call reads the likes again.
    func load() async throws {
        guard !state.withLock(\.isLoaded) else { return }
        try await changeQueue.run {
            guard !state.withLock(\.isLoaded) else { return }
            let contents = try await store.read()
            state.withLock { state in
                state.users = contents.users
                for (number, row, users) in contents.liked {
                    let free = row.flatMap { state.numbers[$0] == nil ? $0 : nil }
                    state.liked[number] = Liked(row: free, users: users)
                    if let free { state.numbers[free] = number }
                }
                state.isLoaded = true
            }
        }
    }

    // MARK: Liked photos

    /// Returns those of `rows` that a user likes.
    func liked(_ rows: some Sequence<Int64>, by user: String) -> Set<Int64> {
        state.withLock { state in
            guard !state.numbers.isEmpty, let user = state.users[user] else { return [] }
            return Set(rows.filter { state.likes(user, $0) })
        }
    }

    /// Returns all rows that a user likes.
    func rows(of user: String) -> [Int64] {
        state.withLock { state in
            guard let user = state.users[user] else { return [] }
            return state.liked.values.compactMap { $0.users.contains(user) ? $0.row : nil }
        }
    }

    /// Returns the number of photos that a user likes.
    func count(of user: String) -> Int { rows(of: user).count }

    /// Updates the rows for a new index of the same folder.
    func resetLocations() async throws {
        try await load()
        try await changeQueue.run {
            let rows = try await store.resetLocations()
            state.withLock { state in
                for number in rows.keys { state.moveRecord(number, to: nil) }
                for (number, row) in rows where state.numbers[row] == nil {
                    state.moveRecord(number, to: row)
                }
            }
        }
    }

    /// Removes the rows of the liked files, before the index of another folder is used.
    func forgetLocations() async throws {
        try await load()
        try await changeQueue.run {
            state.withLock { state in
                for number in state.liked.keys { state.moveRecord(number, to: nil) }
            }
            try await store.forgetLocations()
        }
    }

    // MARK: Liking

    /// Likes or unlikes a photo.
    ///
    /// - Parameters:
    ///   - isLiked: True to like it.
    ///   - user: The ``UserName/key`` of the user.
    ///   - find: Finds the photo. Called at the start, and again when the change runs.
    /// - Returns: True if the like has changed.
    /// - Throws: The error of `find`; `ProviderError.noSuchUser`, `.failed` for a file that cannot be read;
    ///   `StorageError`.
    func set(
        _ isLiked: Bool, by user: String, _ find: () async throws -> Target
    ) async throws -> Bool {
        try await load()
        // During a scan, finding the photo may take several seconds, and reading the file as well. Neither may delay
        // other changes.
        let first = try await find()
        let isNew = state.withLock { $0.numbers[first.picture.file.id] == nil }
        let digest = isLiked && isNew ? try await read(first) : nil
        return try await changeQueue.run {
            let target = try await find()
            guard let user = try await number(of: user) else {
                throw ProviderError.noSuchUser(
                    "The user does not exist any more; log in and register the same name again.")
            }
            let row = target.picture.file.id
            let (number, isLikedNow) = state.withLock { state in
                (state.numbers[row], state.likes(user, row))
            }
            guard isLiked != isLikedNow else { return false }
            if isLiked {
                let isSame = target.picture.path == first.picture.path
                try await add(user, number, target, isSame ? digest : nil)
            } else if let number {
                let removed = try await store.remove(user, number)
                state.withLock { state in
                    for number in removed + [number] { state.remove(user, number) }
                }
            }
            return true
        }
    }

    private func read(_ target: Target) async throws -> FileDigest {
        let content =
            if let readFile { await readFile(target.file) } else {
                await digests.digest(ofFile: target.file)
            }
        guard let content else {
            throw await digests.isAbsent(target.file)
                ? ProviderError.notFound("The photo does not exist any more.")
                : .failed("The file of the photo cannot be read.")
        }
        return content
    }

    private func add(
        _ user: Int64, _ number: Int64?, _ target: Target, _ digest: FileDigest?
    ) async throws {
        let row = target.picture.file.id
        var former: LikedFile?
        if let number { former = try await store.files([number]).first }
        if let former, former.content.stamp == target.picture.file.stamp {
            return try await add(user, former, at: row)
        }
        var content = digest
        if content == nil { content = try await read(target) }
        guard let content else { return }
        if var former {
            guard former.content.hasContent(of: content) else {
                // The record belongs to a former file. The next reconciliation would detect that.
                former.row = nil
                try await store.update([former], [])
                state.withLock { $0.moveRecord(former.number, to: nil) }
                return try await add(
                    user, LikedFile(row: row, path: target.picture.path, content: content), at: row)
            }
            return try await add(user, former, at: row)
        }
        try await add(
            user, LikedFile(row: row, path: target.picture.path, content: content), at: row)
    }

    private func add(_ user: Int64, _ file: LikedFile, at row: Int64) async throws {
        let (number, replaced) = try await store.add(user, file)
        state.withLock { state in
            for other in replaced { state.remove(user, other) }
            state.liked[number, default: Liked(row: row, users: [])].users.insert(user)
            if state.numbers[row] != number {
                state.numbers[row] = number
                state.replacements[row] = nil
            }
        }
    }

    private func number(of user: String) async throws -> Int64? {
        if let number = state.withLock({ $0.users[user] }) { return number }
        let number = try await store.user(user)
        state.withLock { $0.users[user] = number }
        return number
    }

    /// Removes a user. `delete` deletes the user with all their likes from the database.
    func removeUser(_ user: String, _ delete: () async throws -> Void) async throws {
        try await changeQueue.run {
            try await delete()
            state.withLock { state in
                guard let number = state.users.removeValue(forKey: user) else { return }
                for liked in state.liked.keys { state.remove(number, liked) }
            }
        }
    }
}

extension LocalLikes.State {
    func likes(_ user: Int64, _ row: Int64) -> Bool {
        numbers[row].flatMap { liked[$0] }?.users.contains(user) == true
    }

    /// Removes a like.
    mutating func remove(_ user: Int64, _ number: Int64) {
        guard var entry = liked[number], entry.users.remove(user) != nil else { return }
        guard entry.users.isEmpty else {
            liked[number] = entry
            return
        }
        liked[number] = nil
        if let row = entry.row, numbers[row] == number { numbers[row] = nil }
    }

    /// Moves a record to a row; nil if its file is gone.
    mutating func moveRecord(_ number: Int64, to row: Int64?) {
        guard let entry = liked[number] else { return }
        if let old = entry.row, numbers[old] == number { numbers[old] = nil }
        liked[number]?.row = row
        if let row { numbers[row] = number }
    }
}
