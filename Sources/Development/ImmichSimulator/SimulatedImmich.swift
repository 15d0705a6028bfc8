package import ServiceSimulator

/// A simulated Immich server on loopback, with faults on demand.
///
/// ```swift
/// let server = try SimulatedImmich.start(.v2)
/// server.addUser("ada")
/// let key = server.makeKey(of: "ada", permissions: ["asset.read", "user.read"])
/// // … a client sends requests to server.url …
/// server.version = .v3
/// ```
///
/// Every user can access the photos without an owner. Each user has separate favourites.
package final class SimulatedImmich: SimulatedService {
    package let simulator: SimulatorServer<ServerState>

    /// The address of the server: `http://127.0.0.1:port`, without a trailing slash.
    package var url: String { simulator.origin(.server) }

    /// The address of an unrelated origin, for redirects; it must never receive a request with credentials.
    package var unrelatedURL: String { simulator.origin(.unrelated) }

    /// Starts a server on free ports.
    ///
    /// - Parameters:
    ///   - version: The version of the server, which may change at any time.
    ///   - photoCount: The number of photos.
    ///   - seed: The seed of the photos. Their IDs are the same for the same seed.
    /// - Returns: The running server.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(
        _ version: Version = .v3, photoCount: Int = 45, seed: UInt64 = 1
    ) throws -> SimulatedImmich {
        try SimulatedImmich(version, photoCount: photoCount, seed: seed)
    }

    private init(_ version: Version, photoCount: Int, seed: UInt64) throws {
        simulator = try SimulatorServer(
            ServerState(version, photoCount: photoCount, seed: seed),
            [(.server, 0), (.unrelated, 0)])
    }

    /// The version of the server. An update takes effect with the next request.
    package var version: Version {
        get { simulator.withState { $0.version } }
        set { simulator.withState { $0.version = newValue } }
    }

    /// The largest number of photos in a response to a search.
    package var photosPerPage: Int {
        get { simulator.withState { $0.photosPerPage } }
        set { simulator.withState { $0.photosPerPage = newValue } }
    }

    /// True if the server can search by content.
    package var searchesByContent: Bool {
        get { simulator.withState { $0.searchesByContent } }
        set { simulator.withState { $0.searchesByContent = newValue } }
    }

    /// True if users can log in with their passwords.
    package var acceptsPasswords: Bool {
        get { simulator.withState { $0.acceptsPasswords } }
        set { simulator.withState { $0.acceptsPasswords = newValue } }
    }

    // MARK: Users

    /// Adds a user, whose email address is `name@photos.test` and whose password is `password of name`.
    @discardableResult
    package func addUser(
        _ name: String, _ change: (inout SimulatedUser) -> Void = { _ in }
    ) -> SimulatedUser {
        simulator.withState { state in
            var user = SimulatedUser(id: state.nextID(), name: name)
            change(&user)
            state.users[name] = user
            return user
        }
    }

    /// Creates an API key.
    ///
    /// - Parameters:
    ///   - name: The name of the user.
    ///   - permissions: The permissions; nil for all.
    /// - Returns: The key.
    package func makeKey(of name: String, permissions: Set<String>? = nil) -> String {
        simulator.withState { $0.makeKey(of: name, permissions) }
    }

    /// Changes the permissions of a key.
    package func setPermissions(_ permissions: Set<String>?, of key: String) {
        simulator.withState { $0.keys[key]?.permissions = permissions }
    }

    /// Deletes the keys and sessions of a user.
    package func revokeAll(of name: String) {
        simulator.withState { state in
            state.keys = state.keys.filter { $0.value.user != name }
            state.sessions = state.sessions.filter { $0.value != name }
        }
    }

    /// The tokens of the sessions.
    package var sessions: [String] { simulator.withState { Array($0.sessions.keys) } }

    // MARK: Contents

    /// The photos without an owner, the newest first.
    package var photos: [String] {
        simulator.withState { state in
            state.assets.filter { $0.owner == nil && $0.isOnTimeline && $0.kind == "IMAGE" }.map(
                \.id)
        }
    }

    /// Adds an asset with the current time at the top of the timeline.
    @discardableResult
    package func publish(
        _ change: (inout SimulatedAsset) -> Void = { _ in }
    ) -> SimulatedAsset {
        simulator.withState { state in
            // Several photos in one second keep their order.
            let newest = state.assets.first.map { $0.created + 1 } ?? state.now
            var asset = state.makeAsset(created: max(newest, state.now))
            change(&asset)
            state.assets.append(asset)
            state.sortAssets()
            return asset
        }
    }

    /// Changes an asset.
    package func change(_ id: String, _ change: (inout SimulatedAsset) -> Void) {
        simulator.withState { state in
            guard let index = state.assets.firstIndex(where: { $0.id == id }) else { return }
            change(&state.assets[index])
            state.sortAssets()
        }
    }

    /// Deletes an asset.
    package func delete(_ id: String) {
        simulator.withState { $0.assets.removeAll { $0.id == id } }
    }

    /// The favourites of a user.
    package func likes(of name: String) -> Set<String> {
        simulator.withState { $0.favourites[name, default: []] }
    }

    /// Adds favourites of a user.
    package func addLikes(_ photos: [String], of name: String) {
        simulator.withState { $0.favourites[name, default: []].formUnion(photos) }
    }

    /// Adds an album.
    @discardableResult
    package func addAlbum(
        _ name: String, _ assets: [String], _ change: (inout SimulatedAlbum) -> Void = { _ in }
    ) -> SimulatedAlbum {
        simulator.withState { state in
            var album = SimulatedAlbum(id: state.nextID(), name: name, assets: assets)
            change(&album)
            state.albums.append(album)
            return album
        }
    }

    /// Stacks assets, the first of which is the primary one.
    package func addStack(_ assets: [String]) {
        simulator.withState { state in
            state.stacks.append(SimulatedStack(primary: assets.first ?? "", assets: assets))
        }
    }

    /// Ends all stacks.
    package func removeStacks() { simulator.withState { $0.stacks = [] } }

    /// Shows the photos of a user in the timeline of another one.
    package func share(_ owner: String, with user: String) {
        simulator.withState { $0.partners[user, default: []].append(owner) }
    }

    /// Adds a person, whose name may be empty.
    @discardableResult
    package func addPerson(_ name: String, _ assets: [String]) -> SimulatedPerson {
        simulator.withState { state in
            let person = SimulatedPerson(id: state.nextID(), name: name, assets: assets)
            state.people.append(person)
            return person
        }
    }

    /// Adds a memory of a day: `2019-11-22`.
    package func addMemory(_ day: String, _ assets: [String]) {
        simulator.withState { $0.memories.append((day, assets)) }
    }
}

extension RecordedRequest.Host {
    /// The pages and the API.
    package static let server = Self(rawValue: "server")
}

/// A version of the server. The comments state the differences that the simulator has.
package enum Version: String, CaseIterable, Sendable {
    /// No size `fullsize`, no filters for albums, no dates of memories.
    case v1_117 = "1.117.0"
    /// No filters for albums.
    case v1_133 = "1.133.0"
    /// Albums with their assets. Searches, also those of albums, have the photos of the user and of partners only.
    case v2 = "2.0.0"
    /// Sizes of assets after the orientation is applied; the date of memories has a time.
    case v3_0 = "3.0.2"
    /// The date of memories has no time: immich-app/immich #29907.
    case v3 = "3.0.3"
    /// Searches of albums have the photos of all owners.
    case v3_1 = "3.1.0"
    /// Searches with a filter and a cursor, which exclude the earlier members: `withShapeExclusivity` of `search.dto.ts`.
    case v3_2 = "3.2.0"
    /// PATCH in place of PUT, which version 3 also accepts: the plan of immich-app/immich #28859.
    case v4 = "4.0.0"

    var numbers: [Int] { rawValue.split(separator: ".").compactMap { Int($0) } }
    var major: Int { numbers.first ?? 0 }
    var searchesAllOwners: Bool { self == .v3_1 || hasFilters }
    var hasFilters: Bool { self == .v3_2 || self == .v4 }
}
