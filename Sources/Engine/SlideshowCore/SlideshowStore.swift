package import EngineModel
internal import Glibc
package import Storage
package import System

/// The stored slideshows: the settings and the hidden photos in the data, the playlists in the cache.
///
/// Every change is stored before it is announced, so that it survives the end of the process.
nonisolated package struct SlideshowStore: Sendable {
    /// The contents of the store when the daemon started.
    package struct Contents: Sendable {
        /// The playlists by the names of the slideshows; the default one has an empty name.
        var playlists = ["": Playlist()]
        /// The hidden photos with their numbers, in the order in which they were hidden.
        var hidden: [(id: CombinedPhotoID, number: Int64)] = []
        /// The names of the slideshows whose current image is known to be missing.
        var missingImages: Set<String> = []

        package init() {}

        /// The names of the slideshows besides the default one.
        package var names: [String] { playlists.keys.filter { !$0.isEmpty }.sorted() }

        /// Looks for the images of the current photos, which may be on a disk that does not respond.
        package mutating func findImages(_ files: FileThreads) async {
            for (name, playlist) in playlists {
                guard let image = playlist.current?.image else { continue }
                let path = Array(image.utf8)
                let isReadable = await files.run(path) { progress in
                    progress.begin(path) == 0 && access(image, R_OK) == 0
                }
                if isReadable != true { missingImages.insert(name) }
            }
        }
    }

    /// The tables in `data.sqlite`.
    package static let dataFormat = TableFormat("slideshows", sql: SlideshowTables.sql)
    /// The tables in `cache.sqlite`.
    package static let cacheFormat = TableFormat("playlists", sql: PlaylistTables.sql)

    private let data: Store
    private let cache: Store

    /// Returns true for a name that a client may choose: 1 to 32 characters of `a` to `z`, `0` to `9` and `_`.
    package static func isValid(_ name: String) -> Bool {
        1...32 ~= name.utf8.count
            && name.unicodeScalars.allSatisfy { "a"..."z" ~= $0 || "0"..."9" ~= $0 || $0 == "_" }
    }

    /// - Parameters:
    ///   - data: The store with ``dataFormat``. Its owner closes it.
    ///   - cache: The store with ``cacheFormat``. Its owner closes it.
    package init(data: Store, cache: Store) {
        self.data = data
        self.cache = cache
    }

    /// Reads the contents. Playlists that cannot be read are empty; those without settings, or with other accounts, are
    /// deleted.
    ///
    /// - Parameter accounts: The accounts that are logged in; nil if they are unknown.
    /// - Returns: The contents.
    /// - Throws: ``StorageError`` if the settings cannot be read.
    package func contents(of accounts: Set<AccountID>? = nil) async throws -> Contents {
        var contents = Contents()
        let (settings, hidden) = try await data.run { database in
            let tables = SlideshowTables(database: database)
            return (try tables.settings(), try tables.hidden())
        }
        contents.hidden = hidden
        let all = settings.merging(["": SlideshowSettings()]) { stored, _ in stored }
        let stored = try? await cache.run { database in
            let isDeleted = try Self.deletePlaylists(besides: all, of: accounts, in: database)
            let playlists = try all.map { name, settings in
                (name, try PlaylistTables(database: database, name: name).playlist(settings))
            }
            return (playlists: Dictionary(uniqueKeysWithValues: playlists), isDeleted: isDeleted)
        }
        if stored?.isDeleted == true { await cache.scrub() }
        for (name, settings) in all {
            var playlist = stored?.playlists[name] ?? .unread(settings)
            for (id, number) in hidden where number > playlist.hideNumber {
                playlist.hide(id, number)
            }
            contents.playlists[name] = playlist
        }
        return contents
    }

    /// Deletes the playlists of unknown slideshows, which remain if the data are lost: no account that leaves would delete
    /// its photos from them. Those with other accounts remain if the cache could not be written at the logout.
    ///
    /// - Returns: True if there was one.
    private static func deletePlaylists(
        besides settings: [String: SlideshowSettings], of accounts: Set<AccountID>?,
        in database: Database
    ) throws -> Bool {
        let unknown = try database.all("SELECT name FROM playlist_state") {
            PlaylistTables(database: database, name: $0.text(0))
        }.filter { playlist in
            if settings[playlist.name] == nil { return true }
            guard let accounts else { return false }
            return try !playlist.accounts().isSubset(of: accounts)
        }
        for playlist in unknown { try playlist.delete() }
        return !unknown.isEmpty
    }

    /// Checks that the file of the settings and hidden photos is the one that was read.
    ///
    /// - Throws: ``StorageError``.
    func check() async throws { try await data.run { _ in } }

    /// Stores the settings of a slideshow, which exists from then on.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ settings: SlideshowSettings, of name: String) async throws {
        try await change { (tables) throws(StorageError) in try tables.write(settings, of: name) }
    }

    /// Changes the settings or the hidden photos in a transaction. The calls are ordered.
    func change(
        _ body: @escaping @Sendable (SlideshowTables) throws(StorageError) -> Void
    ) async throws {
        try await data.run { database in
            try database.transaction { () throws(StorageError) in
                try body(SlideshowTables(database: database))
            }
        }
    }

    /// Stores a playlist with its changes.
    ///
    /// - Returns: The number of photos that got a position.
    /// - Throws: ``StorageError``.
    func save(_ new: Playlist, replacing old: Playlist, of name: String) async throws -> Int {
        try await cache.run { database in
            try database.transaction { () throws(StorageError) in
                try PlaylistTables(database: database, name: name).write(new, replacing: old)
            }
        }
    }

    /// Returns photos that were not shown yet; see ``PlaylistTables/waiting(_:limit:)``.
    func waiting(
        _ positions: Range<Int64>, of name: String, limit: Int
    ) async throws -> (entries: [Playlist.Entry], round: Int64?) {
        try await cache.run {
            try PlaylistTables(database: $0, name: name).waiting(positions, limit: limit)
        }
    }

    /// Deletes a slideshow.
    ///
    /// - Throws: ``StorageError`` if its settings cannot be deleted. A playlist without settings is not read.
    func delete(_ name: String) async throws {
        try await change { (tables) throws(StorageError) in try tables.delete(name) }
        try? await cache.run { database in
            try database.transaction { () throws(StorageError) in
                try PlaylistTables(database: database, name: name).delete()
            }
        }
    }

    /// Deletes the hidden photos and the sources of an account, in the transaction that deletes the account.
    package static func forget(_ account: AccountID, in database: Database) throws(StorageError) {
        try SlideshowTables(database: database).forget(account)
    }

    /// Removes what was deleted of the playlists from the file, after an account has logged out.
    package func scrubPlaylists(_ account: AccountID) async {
        await cache.scrub(copiesWith: account.text)
    }
}
