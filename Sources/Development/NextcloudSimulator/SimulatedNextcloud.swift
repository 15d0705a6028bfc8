package import ServiceSimulator

/// A simulated Nextcloud server on loopback, with faults on demand.
///
/// ```swift
/// let server = try SimulatedNextcloud.start(.v31, path: "/nextcloud")
/// server.addUser("ada")
/// // … a client starts a login at server.url, and opens an address …
/// server.confirm(address, as: "ada")
/// ```
///
/// Every user can access the files without an owner. Each user has separate favourites.
package final class SimulatedNextcloud: SimulatedService {
    package let simulator: SimulatorServer<ServerState>
    private let path: String

    /// The address of the server, without a trailing slash.
    package var url: String { simulator.origin(.server) + path }

    /// The address of an unrelated origin, for redirects; it must never receive a request with credentials.
    package var unrelatedURL: String { simulator.origin(.unrelated) }

    /// Starts a server on free ports.
    ///
    /// - Parameters:
    ///   - version: The version of the server, which may change at any time.
    ///   - path: The path of the server below its origin.
    ///   - photoCount: The number of photos.
    ///   - seed: The seed of the photos. Their IDs are the same for the same seed.
    /// - Returns: The running server.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(
        _ version: Version = .v31, path: String = "", photoCount: Int = 45, seed: UInt64 = 1
    ) throws -> SimulatedNextcloud {
        try SimulatedNextcloud(version, path: path, photoCount: photoCount, seed: seed)
    }

    private init(_ version: Version, path: String, photoCount: Int, seed: UInt64) throws {
        self.path = path
        simulator = try SimulatorServer(
            ServerState(version, path: path, photoCount: photoCount, seed: seed),
            [(.server, 0), (.unrelated, 0)])
    }

    /// The version of the server. An update takes effect with the next request.
    package var version: Version {
        get { simulator.withState { $0.version } }
        set { simulator.withState { $0.version = newValue } }
    }

    /// True if the server is in maintenance mode.
    package var isInMaintenance: Bool {
        get { simulator.withState { $0.isInMaintenance } }
        set { simulator.withState { $0.isInMaintenance = newValue } }
    }

    /// True if the server waits for the upgrade of its database.
    package var needsUpgrade: Bool {
        get { simulator.withState { $0.needsUpgrade } }
        set { simulator.withState { $0.needsUpgrade = newValue } }
    }

    /// The folders that the app Photos shows; nil without the app.
    package var sourceFolders: [String]? {
        get { simulator.withState { $0.sourceFolders } }
        set { simulator.withState { $0.sourceFolders = newValue } }
    }

    /// The statuses of failing albums, and of their lists, by their paths: `albums/Alps` or `sharedalbums`.
    package var albumFailures: [String: Int] {
        get { simulator.withState { $0.albumFailures } }
        set { simulator.withState { $0.albumFailures = newValue } }
    }

    /// The number of sessions that clients have started.
    package var sessions: Int { simulator.withState { $0.sessions } }

    /// The origin of the addresses of a login; nil for that of the request.
    package var namedOrigin: String? {
        get { simulator.withState { $0.namedOrigin } }
        set { simulator.withState { $0.namedOrigin = newValue } }
    }

    // MARK: Users

    /// Adds a user.
    package func addUser(_ id: String, _ change: (inout SimulatedUser) -> Void = { _ in }) {
        simulator.withState { state in
            var user = SimulatedUser(
                id: id, loginName: id, displayName: id.prefix(1).uppercased() + id.dropFirst())
            change(&user)
            state.users[id] = user
        }
    }

    /// Confirms a login in the browser.
    ///
    /// - Returns: False if the address does not belong to a login.
    @discardableResult
    package func confirm(_ address: String, as user: String) -> Bool {
        let token = address.split(separator: "/").last.map(String.init)
        return simulator.withState { state in
            guard let index = state.flows.firstIndex(where: { $0.loginToken == token }) else {
                return false
            }
            state.flows[index].user = user
            return true
        }
    }

    /// Issues an app password.
    ///
    /// - Returns: The user name and the password, separated by a colon.
    package func makePassword(of user: String) -> String {
        simulator.withState { state in
            let made = state.makePassword(of: user)
            return "\(made.login):\(made.password)"
        }
    }

    /// The valid app passwords.
    package var passwords: [String] { simulator.withState { Array($0.passwords.keys) } }

    /// Deletes the app passwords of a user.
    package func revokeAll(of user: String) {
        simulator.withState { state in
            state.passwords = state.passwords.filter { $0.value != user }
        }
    }

    // MARK: Contents

    /// The photos without an owner, in the order of a client.
    package var photos: [String] {
        simulator.withState { state in
            state.files(of: "").filter { $0.mediaType.hasPrefix("image/") }.map { "\($0.id)" }
        }
    }

    /// Adds a file with the current time at the top.
    @discardableResult
    package func publish(
        _ change: (inout SimulatedFile) -> Void = { _ in }
    ) -> SimulatedFile {
        simulator.withState { state in
            // Several photos in one second keep their order.
            let newest = state.files.map(\.time).max().map { $0 + 1 } ?? state.now
            var file = state.makeFile(modified: max(newest, state.now))
            if state.version.hasMetadata { file.taken = file.modified }
            change(&file)
            state.files.append(file)
            return file
        }
    }

    /// Changes a file.
    package func change(_ id: String, _ change: (inout SimulatedFile) -> Void) {
        simulator.withState { state in
            guard let index = state.files.firstIndex(where: { "\($0.id)" == id }) else { return }
            change(&state.files[index])
        }
    }

    /// Deletes a file.
    package func delete(_ id: String) {
        simulator.withState { $0.files.removeAll { "\($0.id)" == id } }
    }

    /// The favourites of a user.
    package func likes(of user: String) -> Set<String> {
        simulator.withState { Set($0.favourites[user, default: []].map { "\($0)" }) }
    }

    /// Adds an album.
    package func addAlbum(_ name: String, _ files: [String], isShared: Bool = false) {
        simulator.withState { state in
            state.albums.append(
                SimulatedAlbum(name: name, files: files.compactMap { Int($0) }, isShared: isShared))
        }
    }
}

extension RecordedRequest.Host {
    /// The pages and the interfaces.
    package static let server = Self(rawValue: "server")
}
