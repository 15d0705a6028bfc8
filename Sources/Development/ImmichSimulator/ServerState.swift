internal import Glibc
package import ServiceSimulator

/// The state of a simulated server.
package struct ServerState: SimulatedState {
    var version: Version
    var users: [String: SimulatedUser] = [:]
    var keys: [String: SimulatedKey] = [:]
    /// The user names by token.
    var sessions: [String: String] = [:]
    /// Newest first.
    var assets: [SimulatedAsset] = []
    var favourites: [String: Set<String>] = [:]
    var albums: [SimulatedAlbum] = []
    var people: [SimulatedPerson] = []
    var stacks: [SimulatedStack] = []
    /// The users that share their timelines, by the user that sees them.
    var partners: [String: [String]] = [:]
    /// The days, `2019-11-22`, with their assets.
    var memories: [(day: String, assets: [String])] = []
    var photosPerPage = 20
    var searchesByContent = true
    var acceptsPasswords = true
    package var faults = FaultPlan()
    private var random: SeededRandom

    var now: Moment { Moment(time(nil)) }

    init(_ version: Version, photoCount: Int, seed: UInt64) {
        self.version = version
        random = SeededRandom(seed: seed)
        for number in 0..<photoCount {
            assets.append(makeAsset(created: now + -3600 * (number + 1)))
        }
    }

    /// Returns a new UUID.
    mutating func nextID() -> String {
        let digits = Array("0123456789abcdef")
        func group(_ count: Int) -> String {
            String((0..<count).map { _ in digits[Int.random(in: 0..<16, using: &random)] })
        }
        return "\(group(8))-\(group(4))-4\(group(3))-a\(group(3))-\(group(12))"
    }

    mutating func makeAsset(created: Moment) -> SimulatedAsset {
        SimulatedAsset(id: nextID(), created: created)
    }

    mutating func sortAssets() {
        assets.sort { ($0.created, $0.id) > ($1.created, $1.id) }
    }

    mutating func makeKey(of user: String, _ permissions: Set<String>?) -> String {
        let key = "key-of-\(user)-\(nextID())"
        keys[key] = SimulatedKey(user: user, permissions: permissions)
        return key
    }

    mutating func makeSession(of user: String) -> String {
        let token = "session-of-\(user)-\(nextID())"
        sessions[token] = user
        return token
    }

    /// Returns the assets that a user can access.
    func assets(of user: String) -> [SimulatedAsset] {
        assets.filter { $0.owner == nil || $0.owner == user }
    }

    /// Returns the assets in searches of a user: the user's own, and those of partners.
    ///
    /// Source: immich 2.7.5 and 3.1.0, `getUserIdsToSearch` of `search.service.ts`.
    func searchedAssets(of user: String) -> [SimulatedAsset] {
        assets.filter { asset in
            asset.owner.map { $0 == user || partners[user, default: []].contains($0) } ?? true
        }
    }

    /// Returns the assets that a user can read: also those in albums.
    ///
    /// Source: immich 2.7.5, `checkAlbumAccess` and `checkPartnerAccess` of `access.repository.ts`.
    func readableAssets(of user: String) -> [SimulatedAsset] {
        let ids = Set(searchedAssets(of: user).map(\.id)).union(albums.flatMap(\.assets))
        return assets.filter { ids.contains($0.id) }
    }

    // MARK: Requests

    package func username(_ request: RecordedRequest) -> String? {
        if let key = request["x-api-key"] { return keys[key]?.user }
        return token(request).flatMap { sessions[$0] }
    }

    func token(_ request: RecordedRequest) -> String? {
        let parts = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        return parts.count == 2 && parts[0] == "Bearer" ? parts[1] : nil
    }

    package mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        if let reply = fault?.replacement { return reply }
        var reply =
            request.host == .server ? apiReply(request) : Reply(200, json: ["assets": [:]])
        fault?.change(&reply)
        return reply
    }
}
