package import EngineModel
package import ImageMetadata
package import Logging
package import ProviderKit
package import Storage
internal import Synchronization
package import System
internal import Translation

/// The provider of photos in a local folder. A local user is an account without a service.
package final class LocalProvider: FolderProvider {
    package let info = ProviderInfo(
        id: "local", name: "Photos on this computer", iconName: "folder-pictures",
        authentication: .password,
        capabilities: [.feed, .like, .profile, .albums, .avatar, .register, .download, .memories],
        defaultSource: LocalSource.all.id)

    private struct State {
        var picturesFolder: [UInt8]
        var settings: LocalSettings
        /// The open folder; nil if no user is logged in.
        var folder: PictureFolder?
    }

    private let data: Store
    private let crypt = PasswordCrypt()
    private let throttle: PasswordThrottle
    private let marks: LocalMarks
    private let index: Store
    private let cache: String
    let avatars: AvatarStore
    private let images: any ImageProcessor
    private let files: FileThreads
    let thumbnails: Thumbnails
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let presentDay: @Sendable () -> PresentDay
    private let state: Mutex<State>

    /// - Parameters:
    ///   - pictures: The absolute path of the pictures folder, which need not be UTF-8.
    ///   - data: The store with ``format``. The avatars are beside it.
    ///   - cache: The folder for data that can be recreated.
    ///   - images: Reads the metadata of photos, and creates images.
    ///   - files: Makes the file system calls for photos.
    ///   - logger: Receives problems with the folder and its database.
    ///   - clock: Measures the delay after a wrong password, and the pauses of background work.
    ///   - presentDay: Returns the present date.
    ///   - settings: The settings of the user.
    ///   - version: The version of Image Feed.
    package init(
        pictures: [UInt8], data: Store, cache: String,
        images: any ImageProcessor,
        files: FileThreads = FileThreads(),
        logger: Logger, clock: any Clock<Duration>,
        presentDay: @escaping @Sendable () -> PresentDay = { CalendarDate.present() },
        settings: LocalSettings = LocalSettings(), version: String = "0"
    ) {
        self.files = files
        self.data = data
        marks = LocalMarks(data, files)
        throttle = PasswordThrottle(clock: clock)
        avatars = AvatarStore(folder: "\(data.folder)/avatars", images: images)
        index = Store(
            "\(cache)/index.sqlite", .disposable, [PictureIndex.format], hasReader: true,
            logger: logger)
        self.cache = cache
        self.images = images
        self.clock = clock
        self.presentDay = presentDay
        // The thumbnails are in a sibling of the cache folder, which all programs share.
        let shared = cache[..<(cache.lastIndex(of: "/") ?? cache.endIndex)]
        thumbnails = Thumbnails(
            folder: "\(shared)/thumbnails", ownFolder: "\(cache)/thumbnails", version: version,
            images: images, photos: files)
        self.logger = logger
        state = Mutex(State(picturesFolder: pictures, settings: settings))
    }

    /// Changes the settings, also in open sessions. Marks of hidden photos are kept.
    package func change(_ settings: LocalSettings) {
        let folder = state.withLock { state in
            state.settings = settings
            return state.folder
        }
        folder?.change(settings)
    }

    /// Changes the pictures folder. New sessions use it.
    ///
    /// - Returns: True if the folder has changed.
    package func setPicturesFolder(_ path: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.picturesFolder != path else { return false }
            state.picturesFolder = path
            state.folder = nil
            return true
        }
    }

    /// Releases cached memory.
    package func releaseMemory() async { await index.releaseMemory() }

    package func openFolder(_ account: AccountIdentity) -> any FolderSession {
        let user = UserName(account.username)?.key ?? ""
        let (folder, listener) = state.withLock { state in
            let folder =
                state.folder
                ?? PictureFolder(
                    root: state.picturesFolder, index, files, clock: clock,
                    images: images, marks, presentDay: presentDay, settings: state.settings,
                    cache: cache,
                    logger: logger)
            let isNew = state.folder == nil
            state.folder = folder
            let listener = folder.addListener(user)
            if isNew { folder.start() }
            return (folder, listener)
        }
        if folder.state.withLock(\.isOpen) { folder.emitLikeCount(of: user) }
        return LocalSession(user, folder, self, listener)
    }

    /// Ends the events of a session.
    func close(_ folder: PictureFolder, _ listener: Int) {
        state.withLock { state in
            guard !folder.removeListener(listener) else { return }
            folder.stop()
            if state.folder === folder { state.folder = nil }
        }
    }
}

// MARK: - Users

/// The registered local users. They are users of Image Feed, not of the operating system.
extension LocalProvider {
    package func check(username: String) throws(ProviderError) {
        guard !username.isEmpty else { throw .invalidArgument("A local login needs a user name.") }
        _ = try validatedName(username)
    }

    package func logIn(
        username: String, password: Secret?, registers: Bool
    ) async throws -> AccountIdentity {
        let name = try validatedName(username)
        guard !registers else { return try await register(name, password) }
        let user = try await user(name)
        try await check(password, of: user.name, name.key, user.hash)
        return AccountIdentity(username: user.name)
    }

    package func checkUser(_ account: AccountIdentity) async throws {
        _ = try await user(validatedName(account.username))
    }

    /// Returns the user with a name in any spelling: the name as it was registered, and the hash of the password, which
    /// is nil for a user without one.
    private func user(_ name: UserName) async throws -> (name: String, hash: String?) {
        let user = try await data.run { database in
            try database.first(
                "SELECT name, password FROM user WHERE key = ?", [.text(name.key)]
            ) { (name: $0.text(0), hash: $0.optionalText(1)) }
        }
        guard let user else {
            throw ProviderError.noSuchUser(
                Message("There is no user {user}; register the name first.", ["user": name.text]))
        }
        return user
    }

    private func register(_ name: UserName, _ password: Secret?) async throws -> AccountIdentity {
        var hash: String?
        if let password { hash = try await crypt.hash(password) }
        try await data.run { [hash] database in
            try database.query(
                """
                INSERT INTO user (key, name, password) VALUES (?, ?, ?)
                ON CONFLICT (key) DO NOTHING
                """,
                [.text(name.key), .text(name.text), .text(hash)])
            guard database.changedRows > 0 else {
                throw ProviderError.userExists(
                    Message(
                        "There is a user {user} already; log in without registering, or choose another name.",
                        ["user": name.text]))
            }
        }
        return AccountIdentity(username: name.text)
    }

    private func check(
        _ password: Secret?, of user: String, _ key: String, _ hash: String?
    ) async throws {
        guard let hash else {
            guard password == nil else {
                throw ProviderError.wrongPassword(
                    Message("{user} has no password; log in without one.", ["user": user]))
            }
            return
        }
        // A login without a password gives an attacker no information, so it does not count as an attempt.
        guard let password else {
            throw ProviderError.wrongPassword(
                Message("{user} has a password; log in with it.", ["user": user]))
        }
        let isCorrect = try await throttle.run(key) { try await crypt.matches(password, hash) }
        guard isCorrect else {
            throw ProviderError.wrongPassword(
                Message("The password of {user} is wrong; try again.", ["user": user]))
        }
    }

    /// Deletes a user with their marks and avatar, and erases the password hash from the file.
    package func removeUser(_ account: AccountIdentity) async throws {
        guard let name = UserName(account.username) else { return }
        try await data.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query("DELETE FROM user WHERE key = ?", [.text(name.key)])
                try LocalMarks.deleteUnmarked(database)
            }
        }
        await data.scrub()
        try await marks.load(again: true)
        await avatars.remove(name.key)
    }

    /// Validates the user name of a login.
    private func validatedName(_ username: String) throws(ProviderError) -> UserName {
        guard let name = UserName(username) else {
            throw .invalidArgument(
                "A user name has 1 to 64 printable characters, with no white space around them.")
        }
        return name
    }

    package func profile(of account: AccountIdentity) async throws -> Profile {
        var profile = Profile(username: account.username, name: account.username)
        profile.avatar = await avatars.path(of: UserName(account.username)?.key ?? "")
        profile.isEditable = true
        return profile
    }
}
