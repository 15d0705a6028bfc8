package import Logging
package import ProviderKit
internal import Synchronization

/// Photos on this computer's disk. A local user is an account, without any service.
package final class LocalProvider: PasswordLogin {
    package let info = ProviderInfo(
        id: "local", name: "Photos on this computer", iconName: "folder-pictures",
        authentication: .password, capabilities: [.feed, .profile, .albums, .register, .download],
        defaultSource: LocalSource.all.id)

    private struct State {
        var picturesFolder: String
        /// There while somebody is logged in.
        var folder: PictureFolder?
    }

    private let users: LocalUsers
    private let database: PictureDatabase
    private let cache: String
    private let images: any ImageWorkshop
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - pictures: The pictures folder, an absolute path.
    ///   - data: The folder for what must not be lost.
    ///   - cache: The folder for what can be made anew.
    ///   - images: Who looks into photos and makes images of them.
    ///   - logger: Where to report to.
    package init(
        pictures: String, data: String, cache: String,
        images: any ImageWorkshop = NoImageWorkshop(), logger: Logger
    ) {
        users = LocalUsers(folder: data)
        database = PictureDatabase(folder: cache, logger: logger)
        self.cache = cache
        self.images = images
        self.logger = logger
        state = Mutex(State(picturesFolder: pictures))
    }

    /// Changes the pictures folder. Sessions that are made from now on see it.
    ///
    /// - Returns: Whether it is another one than before.
    package func setPicturesFolder(_ path: String) -> Bool {
        state.withLock { state in
            guard state.picturesFolder != path else { return false }
            state.picturesFolder = path
            state.folder = nil
            return true
        }
    }

    package func check(_ request: PasswordLoginRequest) throws(ProviderError) {
        guard !request.username.isEmpty else {
            throw .invalidArgument("A local login needs a user name.")
        }
        _ = try name(request)
        guard !request.hasPassword else {
            throw .notSupported("Local users have no passwords yet; log in without one.")
        }
    }

    package func logIn(_ request: PasswordLoginRequest) async throws -> AccountIdentity {
        let name = try name(request)
        guard request.registers else {
            return AccountIdentity(username: try await users.find(name))
        }
        try await users.register(name)
        return AccountIdentity(username: name)
    }

    /// The name that somebody gave, as it is kept.
    private func name(_ request: PasswordLoginRequest) throws(ProviderError) -> String {
        guard let name = LocalUsers.normalised(request.username) else {
            throw .invalidArgument("A user name has 1 to 64 printable characters.")
        }
        return name
    }

    package func removeUser(_ account: AccountIdentity) async throws {
        try await users.remove(account.username)
    }

    package func makeSession(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) -> any Session {
        let (folder, listener) = state.withLock { state in
            let folder =
                state.folder
                ?? PictureFolder(
                    root: state.picturesFolder, database, cache: cache, logger: logger)
            let isNew = state.folder == nil
            state.folder = folder
            let listener = folder.listen()
            if isNew { folder.start() }
            return (folder, listener)
        }
        return LocalSession(account, folder, events: listener.events) { [weak self] in
            self?.close(folder, listener.id)
        }
    }

    private func close(_ folder: PictureFolder, _ listener: Int) {
        state.withLock { state in
            guard !folder.unlisten(listener) else { return }
            folder.stop()
            if state.folder === folder { state.folder = nil }
        }
    }
}
