// A provider for Image Feed that shows the photos of an Immich server: see imagefeed-providers(7).
//
//     imagefeedctl login immich --server photos.example.org --password-file -
//
// Create an API key in the account settings of Immich. Source: https://api.immich.app
import FoundationEssentials
import ProviderKit

struct Immich: KeyLogin {
    let info = ProviderInfo(
        id: "immich", name: "Immich", iconName: "image-x-generic", authentication: .password,
        capabilities: [.feed, .like, .profile, .albums], defaultSource: SourceID("all"))

    func access(_ settings: ProviderSettings, server: String) -> KeyDescription {
        KeyDescription(keyField: "x-api-key: ", keyOrigins: [Server.origin(server)], needsServer: true)
    }

    func identify(_ account: AccountIdentity, _ ports: SessionPorts) async throws -> AccountIdentity {
        let user: User = try await Server(account, ports).get("users/me")
        return AccountIdentity(username: user.email, server: account.server, userID: user.id)
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        ImmichSession(Server(account, ports))
    }
}

final class ImmichSession: RemoteLikes, RemoteImages, ProfileSession {
    let events: AsyncStream<SessionEvent>
    let likesSource = SourceID("likes")
    let server: Server
    private let continuation: AsyncStream<SessionEvent>.Continuation

    init(_ server: Server) {
        self.server = server
        (events, continuation) = AsyncStream.makeStream()
        continuation.yield(.status(.ready))
    }

    func close() { continuation.finish() }
    var imageClient: any HTTPClient { server.http }

    func profile() async throws -> Profile {
        let user: User = try await server.get("users/me")
        var profile = Profile(username: user.email, name: user.name)
        profile.userID = user.id
        return profile
    }

    func accepts(_ source: SourceID) -> Bool {
        ["all", "likes"].contains(source.text) || source.text.hasPrefix("album:")
    }

    func sources() async throws -> [Source] {
        let albums: [Album] = try await server.get("albums")
        let feeds = [
            Source(id: SourceID("all"), title: "All photos", kind: .feed),
            Source(id: likesSource, title: "Favourites", kind: .likes),
        ]
        return feeds + albums.map {
            Source(
                id: SourceID("album:\($0.id)"), title: $0.albumName, kind: .album,
                count: $0.assetCount, cover: $0.albumThumbnailAssetId.map { PhotoID($0) })
        }
    }

    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        var search = Search(page: pageToken.flatMap { Int($0) } ?? 1)
        if source == likesSource { search.isFavorite = true }
        if source.text.hasPrefix("album:") { search.albumIds = [String(source.text.dropFirst(6))] }
        let found: Found = try await server.get("search/metadata", search)
        return RemotePage(found.assets.items.map { $0.photo(server) }, next: found.assets.nextPage)
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        let asset: Asset = try await server.get("assets/\(URLEncoding.escape(id.text))")
        return asset.photo(server)
    }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        _ = try await server.send(.put, "assets", Change(ids: [photo.text], isFavorite: isLiked))
        return nil
    }
}

struct Server: Sendable {
    let base: String
    let http: any HTTPClient

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        base = Self.origin(account.server) + "/api"
        http = ports.http
    }

    static func origin(_ name: String) -> String { name.contains("://") ? name : "https://\(name)" }

    func get<Value: Decodable>(_ path: String, _ search: Search? = nil) async throws -> Value {
        let body = try await send(search == nil ? .get : .post, path, search)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(body))
        } catch {
            throw ProviderError.failed("Immich sent an invalid response.")
        }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: (some Encodable)?
    ) async throws -> [UInt8] {
        var request = HTTPRequest(method, "\(base)/\(path)")
        if let body { request.body = Array(try JSONEncoder().encode(body)) }
        request.headers = ["Accept": "application/json", "Content-Type": "application/json"]
        let response = try await http.send(request)
        // The API never returns HTML. A web page comes from another server, such as the login page of a network.
        guard !response.isPage else { throw ProviderError.failed("Immich sent a web page instead of JSON.") }
        switch response.status {
        case 200..<300: return response.body
        case 401: throw ProviderError.unauthorized
        case 403: throw ProviderError.denied("The API key has no permission for this; create another key.")
        case 429:
            let pause = response.retryAfter(now: .now)
            throw ProviderError.rateLimited(until: pause.map { Timestamp.now + $0 })
        case 400, 404: throw ProviderError.notFound("Immich has no such photo or album.")
        default: throw ProviderError.failed("Immich returned status \(response.status).")
        }
    }
}
struct User: Decodable { let id: String?, email: String, name: String }
struct Change: Encodable { let ids: [String], isFavorite: Bool }
struct Album: Decodable { let id, albumName: String, assetCount: Int, albumThumbnailAssetId: String? }
struct Search: Encodable {
    let page: Int, size = 100, type = "IMAGE", order = "desc"
    var isFavorite: Bool?, albumIds: [String]?
}
struct Found: Decodable { let assets: Assets }
struct Assets: Decodable { let items: [Asset], nextPage: String? }
struct Asset: Decodable {
    let id: String, originalFileName: String?, originalMimeType: String?, fileCreatedAt: String?
    let isFavorite: Bool?

    func photo(_ server: Server) -> RemotePhoto {
        var photo = Photo(id: PhotoID(id))
        photo.title = originalFileName.map { String($0.prefix { $0 != "." }) }
        photo.created = fileCreatedAt.flatMap { Timestamp(rfc3339: $0) }
        photo.isLiked = isFavorite ?? false
        photo.mediaType = originalMimeType
        let address = "\(server.base)/assets/\(id)"
        return RemotePhoto(
            photo,
            images: [
                .thumb: "\(address)/thumbnail?size=thumbnail",
                .regular: "\(address)/thumbnail?size=preview", .full: "\(address)/original",
            ])
    }
}

ProviderKit.run(Immich())
