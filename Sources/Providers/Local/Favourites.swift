internal import FileAccess
internal import Logging
internal import ProviderKit
internal import Synchronization

/// What the local users like.
///
/// Kept for good by what the files hold, so that a like outlives a move, a restart and the cache. In memory it
/// is a row of the index, for all users once, so that pages can be marked while they are read.
final class Favourites: Sendable {
    struct Liked {
        /// The row of the index; nil as long as the file is nowhere.
        var row: Int64?
        var users: Set<Int64>
    }

    struct State {
        var isLoaded = false
        /// By ``UserName/key``, those that are known.
        var users: [String: Int64] = [:]
        /// By the number of the ``Keepsake``.
        var liked: [Int64: Liked] = [:]
        /// The number of the keepsake of a row.
        var numbers: [Int64: Int64] = [:]
    }

    /// A photo that is to be liked.
    struct Place: Sendable {
        let picture: PictureIndex.Picture
        /// The absolute path.
        let file: [UInt8]
    }

    let state = Mutex(State())
    let store: FavouriteStore
    let digests: DigestReader
    /// One change at a time.
    let turns = ChangeQueue()
    let logger: Logger

    init(_ store: FavouriteStore, _ files: FileThreads, logger: Logger) {
        digests = DigestReader(files)
        self.store = store
        self.logger = logger
    }

    /// Reads what is kept, once.
    ///
    /// - Throws: What the disk says; the next call tries again.
    func load() async throws {
        guard !state.withLock(\.isLoaded) else { return }
        try await turns.run {
            guard !state.withLock(\.isLoaded) else { return }
            let contents = try await store.read()
            state.withLock { state in
                state.users = contents.users
                for (number, row, users) in contents.liked {
                    let isFree = state.numbers[row] == nil
                    state.liked[number] = Liked(row: isFree ? row : nil, users: users)
                    if isFree { state.numbers[row] = number }
                }
                state.isLoaded = true
            }
        }
    }

    // MARK: What is liked

    /// Those of `rows` that a user likes.
    func liked(_ rows: some Sequence<Int64>, by user: String) -> Set<Int64> {
        state.withLock { state in
            guard !state.numbers.isEmpty, let user = state.users[user] else { return [] }
            return Set(rows.filter { state.likes(user, $0) })
        }
    }

    /// All rows that a user likes.
    func rows(of user: String) -> [Int64] {
        state.withLock { state in
            guard let user = state.users[user] else { return [] }
            return state.liked.values.compactMap { $0.users.contains(user) ? $0.row : nil }
        }
    }

    /// How many photos a user likes.
    func count(of user: String) -> Int { rows(of: user).count }

    /// Takes note that another pictures folder is shown: what is liked is known by what it holds alone.
    func loseSight() async throws {
        try await load()
        try await turns.run {
            try await store.loseSight()
            state.withLock { state in
                for number in state.liked.keys { state.place(number, at: nil) }
            }
        }
    }

    // MARK: Liking

    /// Likes a photo, or takes the like back.
    ///
    /// - Parameters:
    ///   - isLiked: What is wanted.
    ///   - user: Whose like it is: a ``UserName/key``.
    ///   - find: Finds the photo: at first, and again when it is this change's turn.
    /// - Returns: Whether that changes anything.
    /// - Throws: What `find` throws; `ProviderError.noSuchUser`, `.failed` for a file that cannot be read;
    ///   what the disk says.
    func set(
        _ isLiked: Bool, by user: String, _ find: () async throws -> Place
    ) async throws -> Bool {
        try await load()
        // While the folder is being read that may take long: not while others wait.
        _ = try await find()
        return try await turns.run {
            let place = try await find()
            guard let user = try await number(of: user) else {
                throw ProviderError.noSuchUser(
                    "The user is not known any more; log in and register the same name again.")
            }
            let row = place.picture.file.id
            let (number, isLikedNow) = state.withLock { state in
                (state.numbers[row], state.likes(user, row))
            }
            guard isLiked != isLikedNow else { return false }
            if isLiked {
                try await add(user, number, place)
            } else if let number {
                try await store.remove(user, number)
                state.withLock { $0.remove(user, number) }
            }
            return true
        }
    }

    private func add(_ user: Int64, _ number: Int64?, _ place: Place) async throws {
        let row = place.picture.file.id
        var keepsake = Keepsake(
            number: number ?? 0, digest: [], size: 0, row: row, path: place.picture.path,
            modified: 0)
        if number == nil {
            guard let digest = await digests.digest(ofFile: place.file) else {
                throw await digests.isAbsent(place.file)
                    ? ProviderError.notFound("The photo is not there any more.")
                    : .failed("The file of the photo cannot be read.")
            }
            keepsake.digest = digest.bytes
            keepsake.size = digest.size
            keepsake.modified = digest.modified
        }
        let number = try await store.add(user, keepsake)
        state.withLock { state in
            state.liked[number, default: Liked(row: row, users: [])].users.insert(user)
            state.numbers[row] = number
        }
    }

    private func number(of user: String) async throws -> Int64? {
        if let number = state.withLock({ $0.users[user] }) { return number }
        let number = try await store.user(user)
        state.withLock { $0.users[user] = number }
        return number
    }

    /// Forgets a user, whom `delete` deletes with all their likes.
    func removeUser(_ user: String, _ delete: () async throws -> Void) async throws {
        try await turns.run {
            try await delete()
            state.withLock { state in
                guard let number = state.users.removeValue(forKey: user) else { return }
                for keepsake in state.liked.keys { state.remove(number, keepsake) }
            }
        }
    }
}

extension Favourites.State {
    func likes(_ user: Int64, _ row: Int64) -> Bool {
        numbers[row].flatMap { liked[$0] }?.users.contains(user) == true
    }

    /// Takes a like back.
    mutating func remove(_ user: Int64, _ number: Int64) {
        guard var entry = liked[number], entry.users.remove(user) != nil else { return }
        guard entry.users.isEmpty else {
            liked[number] = entry
            return
        }
        liked[number] = nil
        if let row = entry.row { numbers[row] = nil }
    }

    /// Notes where the file of a keepsake is.
    mutating func place(_ number: Int64, at row: Int64?) {
        guard let entry = liked[number] else { return }
        if let old = entry.row, numbers[old] == number { numbers[old] = nil }
        liked[number]?.row = row
        if let row { numbers[row] = number }
    }
}
