import FoundationEssentials
import Glibc
import HTTP
import LoopbackHTTP
import Plugins
import ProviderKit
import TestSupport
import Testing

/// The Swift example with a server that behaves like Immich. The Python example is tested over the bus.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ExampleTests {
    private let server: LoopbackServer
    private let plugin: BuiltPlugin

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        server = try LoopbackServer { request in
            guard
                request.headers.contains(where: {
                    $0.name.lowercased() == "x-api-key" && $0.value == "KEY"
                })
            else { return LoopbackResponse(401, json: "{}") }
            return Self.answer(request)
        }
        let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "dist/examples/photo_server/photo_server.provider")
        plugin = try BuiltPlugin(
            "photo_server-example", String(decoding: Data(contentsOf: file), as: UTF8.self))
    }

    nonisolated private static func answer(_ request: LoopbackRequest) -> LoopbackResponse {
        let asset = #"""
            {"id":"a1","originalFileName":"Fog.jpg","originalMimeType":"image/jpeg","isFavorite":true,
             "fileCreatedAt":"2026-09-21T14:13:20.000Z","unknown":[]}
            """#
        switch (request.method, request.target) {
        case ("GET", "/api/users/me"):
            return LoopbackResponse(json: #"{"email":"ada@example.org","name":"Ada"}"#)
        case ("GET", "/api/albums"):
            return LoopbackResponse(
                json:
                    #"[{"id":"b1","albumName":"Alps","assetCount":7,"albumThumbnailAssetId":"a1"}]"#
            )
        case ("POST", "/api/search/metadata"):
            return LoopbackResponse(
                json: #"{"assets":{"items":[\#(asset)],"nextPage":"2"}}"#)
        case ("GET", "/api/assets/a1"): return LoopbackResponse(json: asset)
        case ("PUT", "/api/assets"): return LoopbackResponse(204, text: "")
        case ("GET", "/api/assets/a1/original"): return LoopbackResponse(text: "JPEG")
        default: return LoopbackResponse(404, json: "{}")
        }
    }

    private func client(_ key: String) -> TokenClient {
        TokenClient(
            base: CurlClient(userAgent: "Test") {}, token: Secret(key), field: "x-api-key: ")
    }

    @Test func `a valid key identifies its user, and an invalid one is refused`() async throws {
        let provider = try #require(plugin.provider as? any KeyLogin)
        let named = AccountIdentity(username: "", server: server.origin)
        let found = try await provider.identify(named, plugin.ports(client("KEY")))
        #expect(found == AccountIdentity(username: "ada@example.org", server: server.origin))
        await #expect(throws: ProviderError.unauthorized) {
            try await provider.identify(named, plugin.ports(client("WRONG")))
        }
        let access = try provider.access(ProviderSettings(), server: "photos.example.org")
        #expect(access.keyField == "x-api-key: ")
        #expect(access.keyOrigins == ["https://photos.example.org"])
        #expect(access.needsServer)
        #expect(throws: ProviderError.self) {
            try provider.access(ProviderSettings(), server: "http://photos.example.org")
        }
    }

    @Test func `the example returns photos, albums, likes and images`() async throws {
        let features = plugin.session(
            AccountIdentity(username: "ada", server: server.origin), client("KEY"))
        #expect(features.remoteLikes != nil)
        #expect(features.remoteImages != nil)
        let session = try #require(
            features as? any RemoteLikes & RemoteImages & ProfileSession)
        #expect(try await session.profile().name == "Ada")
        let sources = try await session.sources()
        #expect(sources.map(\.id.text) == ["all", "likes", "album:b1"])
        #expect(sources.last?.cover == PhotoID("a1"))
        let page = try await session.fetchPage(SourceID("album:b1"), from: nil)
        #expect(page.next == "2")
        let photo = try #require(page.photos.first)
        #expect(photo.photo.title == "Fog")
        #expect(photo.photo.created == Timestamp(secondsSince1970: 1_790_000_000))
        #expect(photo.photo.isLiked)
        #expect(try await session.fetchPhoto(PhotoID("a1")) == photo)
        #expect(try await session.setLiked(PhotoID("a1"), false) == nil)
        let address = try #require(photo.images[.full])
        let image = try await session.imageClient.send(HTTPRequest(.get, address))
        #expect(image.body == Array("JPEG".utf8))
        await #expect(throws: HTTPError.self) {
            try await session.imageClient.send(HTTPRequest(.get, "https://example.org/"))
        }
    }
}
