import BusAPI
import DBus
import Foundation
import ServiceSimulator
import TestSupport
import Testing

/// The daemon with the Swift example and a simulated Immich server.
@MainActor
final class ImmichWorld: SecretWorld {
    let provider = "immich"
    let server: SimulatedImmich
    let client: TestClient
    var daemon: RunningDaemon

    init() async throws {
        server = try SimulatedImmich()
        try PrivateBus.current.directory.write(
            "[Provider immich]\nAllowLoopback=true\n",
            to: "home/.config/imagefeed/imagefeed.conf")
        try HostedProvider.installExample("immich")
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    func accountID(_ user: String) -> String {
        HostedProvider.accountID("immich", "\(user)@\(server.url)")
    }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        let key = server.simulator.withState { $0.makeKey(of: user) }
        let login = try await client.service.manager.login(
            provider,
            [
                .server: .string(server.url),
                .password: .fileDescriptor(
                    try #require(FileDescriptor.pipe(holding: Array(key.utf8), key.utf8.count))),
            ])
        let account = client.service.account(try await client.service.login(login).wait())
        try await wait(account, "ready", of: .profile)
        return account
    }

    var service: any SimulatedService { server }
    var feed: [String] { server.simulator.withState { $0.assets } }
    func publish() -> String { server.simulator.withState { $0.publish() } }
    func delete(_ photo: String) {
        server.simulator.withState { $0.assets.removeAll { $0 == photo } }
    }

    func likes(of user: String) -> Set<String> {
        server.simulator.withState { $0.favourites[user, default: []] }
    }

    var requestsOfAPI: [RecordedRequest] {
        server.requests().filter { !$0.path.hasPrefix("/api/assets/") }
    }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .feed: "POST /api/search/metadata"
        case .like: "PUT /api/assets"
        case .user, .token, .revocation: "GET /api/users/me"
        case .images: "GET /api/assets/*/*"
        }
    }

    func exhaust() {
        for pattern in ["/api/*", "/api/*/*"] as [RequestPattern] {
            server.fail(pattern, .textStatus(429, ""))
        }
    }

    func revokeTokens(of user: String) {
        server.simulator.withState { state in state.keys = state.keys.filter { $0.value != user } }
    }

    var tokens: Set<String> { Set(server.requests().compactMap { $0["x-api-key"] }) }
}

/// A server on loopback that implements the parts of Immich's API that the example uses.
final class SimulatedImmich: SimulatedService {
    let simulator: SimulatorServer<ImmichState>

    var url: String { simulator.origin(.immich) }

    init() throws { simulator = try SimulatorServer(ImmichState(), [(.immich, 0)]) }
}

extension RecordedRequest.Host {
    fileprivate static let immich = Self(rawValue: "immich")
}

/// The state of the server. Source: api.immich.app.
struct ImmichState: SimulatedState {
    var faults = FaultPlan()
    /// The IDs of the photos, the newest first.
    var assets = (0..<45).map { "00000000-0000-4000-8000-\(100_000_009_999 - $0)" }
    var favourites: [String: Set<String>] = [:]
    /// The user names by API key.
    var keys: [String: String] = [:]

    /// The largest number of photos in a response.
    private static let photosPerPage = 20

    mutating func makeKey(of user: String) -> String {
        let key = "key-of-\(user)-\(UInt64.random(in: .min ... .max))"
        keys[key] = user
        return key
    }

    mutating func publish() -> String {
        let asset = "00000000-0000-4000-8000-\(200_000_000_000 + assets.count)"
        assets.insert(asset, at: 0)
        return asset
    }

    func username(_ request: RecordedRequest) -> String? {
        request["x-api-key"].flatMap { keys[$0] }
    }

    mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        if let reply = fault?.replacement { return reply }
        var reply = answer(request)
        fault?.change(&reply)
        return reply
    }

    private mutating func answer(_ request: RecordedRequest) -> Reply {
        guard let user = username(request) else {
            return Reply(401, json: ["message": "Invalid API key"])
        }
        let path = request.segments
        switch (request.method, path.count, path.dropFirst().first ?? "") {
        case ("GET", 3, "users"):
            return Reply(200, json: ["email": .string(user), "name": .string(user.capitalized)])
        case ("GET", 2, "albums"): return Reply(200, json: [])
        case ("POST", 3, "search"): return search(request, user)
        case ("PUT", 2, "assets"): return change(request, user)
        case ("GET", 3, "assets") where assets.contains(path[2]):
            return Reply(200, json: asset(path[2], user))
        case ("GET", 4, "assets"):
            return Reply(
                200, headers: [("Content-Type", "image/jpeg")],
                body: JPEGImage(width: 64, height: 48, color: "#406080").file)
        default: return Reply(400, json: ["message": "Not found or no access"])
        }
    }

    private struct Search: Decodable {
        let page: Int
        let isFavorite: Bool?
    }

    private func search(_ request: RecordedRequest, _ user: String) -> Reply {
        guard let search = try? JSONDecoder().decode(Search.self, from: Data(request.body)) else {
            return Reply(400, json: ["message": "Bad request"])
        }
        let liked = favourites[user, default: []]
        let found = assets.filter { search.isFavorite != true || liked.contains($0) }
        let rest = found.dropFirst((search.page - 1) * Self.photosPerPage)
        let items = rest.prefix(Self.photosPerPage).map { asset($0, user) }
        let next: JSON = rest.count > Self.photosPerPage ? .string("\(search.page + 1)") : .null
        return Reply(200, json: ["assets": ["items": .array(items), "nextPage": next]])
    }

    private struct Change: Decodable {
        let ids: [String]
        let isFavorite: Bool
    }

    private mutating func change(_ request: RecordedRequest, _ user: String) -> Reply {
        guard let change = try? JSONDecoder().decode(Change.self, from: Data(request.body)),
            change.ids.allSatisfy(assets.contains)
        else { return Reply(400, json: ["message": "Not found or no access"]) }
        if change.isFavorite {
            favourites[user, default: []].formUnion(change.ids)
        } else {
            favourites[user, default: []].subtract(change.ids)
        }
        return Reply(204)
    }

    private func asset(_ id: String, _ user: String) -> JSON {
        [
            "id": .string(id), "originalFileName": "Fog.jpg", "originalMimeType": "image/jpeg",
            "fileCreatedAt": "2026-09-21T14:13:20.000Z",
            "isFavorite": .bool(favourites[user, default: []].contains(id)),
        ]
    }
}
