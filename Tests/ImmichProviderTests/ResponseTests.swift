import Foundation
import LoopbackHTTP
import ProviderKit
import TestSupport
import Testing
import WebService

@testable import ImmichProvider

/// Tests of invalid and hostile responses.
@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
    private static let id = ScriptedSession.photo

    private static func lacks(_ permission: String) -> ProviderError {
        .denied(
            "The API key for photos.example lacks the permission \(permission); edit the key in the account settings of the server."
        )
    }

    private func photo(_ more: String) async throws -> RemotePhoto {
        let session = ScriptedSession(responding: .json(#"{"id":"\#(Self.id)",\#(more)}"#)).session
        return try await session.fetchPhoto(Self.id)
    }

    @Test(arguments: [
        "", "[]", "{}", "null", "[1,null,{}]", #"{"assets":null}"#, #"{"assets":{"items":{}}}"#,
        #"{"assets":{"items":[{"id":1},{"id":"../../etc"},{}]}}"#, "{\"assets\":{\"items\":[",
        "<html></html>",
    ])
    func `an invalid page fails`(body: String) async {
        let session = ScriptedSession(responding: .json(body)).session
        for source in ["all", "likes", "search:a", "person:\(Self.id)"] {
            await expectThrown(ProviderError.failed) { try await session.page(source) }
        }
    }

    @Test(arguments: [
        "1", #""1""#, "0", "-5", #""x""#, "null", "1e300", "[]", #""99999999999999999999""#,
    ])
    func `a page does not refer to itself or to an invalid page`(next: String) async throws {
        let body = #"{"assets":{"items":[{"id":"\#(Self.id)"}],"nextPage":\#(next)}}"#
        let session = ScriptedSession { request in
            .json(request.url.hasSuffix("/stacks") ? "[]" : body)
        }.session
        let page = try await session.page("all")
        #expect((page.photos.count, page.next) == (1, nil))
        for token in ["", "x", "0", "-1", "1.5", "99999999999999999999"] {
            await #expect(throws: ProviderError.staleCursor) {
                try await session.page("all", from: token)
            }
        }
    }

    @Test func `invalid fields are ignored`() async throws {
        let photo = try await photo(
            #"""
            "type":"IMAGE","originalFileName":{"a":1},"width":-3,"height":99999999999,"thumbhash":"&&&",
            "fileCreatedAt":"yesterday","isFavorite":"maybe","exifInfo":{"exifImageWidth":"x","orientation":"9"},
            "originalMimeType":"text/html\r\nX: y"
            """#)
        var plain = Photo(id: PhotoID(Self.id))
        plain.url = "https://photos.example/photos/\(Self.id)"
        #expect(photo.photo == plain)
        #expect((photo.hasLikeState, photo.note) == (false, ""))
        for address in photo.images.values {
            #expect(
                address.hasPrefix("https://photos.example/api/assets/\(Self.id)/thumbnail?size="))
            #expect(WebAddress(address) != nil, "\(address)")
        }
    }

    @Test func `a capture time without a zone is that of the local clock`() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            tzset()
            func created(_ time: String, zone: String) -> Int64? {
                let asset: AssetRecord? = HTTPResponse.json(
                    #"""
                    {"id":"\#(ScriptedSession.photo)","fileCreatedAt":"\#(time)",
                    "localDateTime":"2025-06-15T23:59:59.000Z","exifInfo":{"timeZone":\#(zone)}}
                    """#
                ).decodeJSON()
                return asset?.taken?.secondsSince1970
            }
            // 23:59:59 on the clock of the camera, in summer.
            #expect(created("2025-06-15T23:59:59.000Z", zone: "null") == 1_750_024_799)
            // The container of the server has a time zone.
            #expect(created("2025-06-15T21:59:59.000Z", zone: "null") == 1_750_024_799)
            #expect(created("2025-06-15T21:59:59.000Z", zone: #""Europe/Berlin""#) == 1_750_024_799)
            #expect(created("2025-06-15T23:59:59.000Z", zone: #""UTC""#) == 1_750_031_999)
        }
    }

    @Test func `a video, a deleted photo and another photo are not found`() async throws {
        for more in [#""type":"VIDEO""#, #""isTrashed":true"#] {
            await expectThrown(ProviderError.notFound) { try await photo(more) }
        }
        let other = ScriptedSession(
            responding: .json(#"{"id":"00000000-0000-4000-8000-000000000002"}"#))
        await expectThrown(ProviderError.failed) { try await other.session.fetchPhoto(Self.id) }
    }

    @Test func `IDs that are not UUIDs cause no request`() async {
        let fixture = ScriptedSession(responding: .json("{}"))
        for id in ["", "..", "a/b", "no-such-photo", "00000000-0000-4000-8000-00000000000g"] {
            await #expect(throws: ProviderError.self) { try await fixture.session.fetchPhoto(id) }
            await #expect(throws: ProviderError.self) {
                try await fixture.session.setLiked(id, true)
            }
            for source in ["album:\(id)", "person:\(id)"] {
                #expect(!fixture.session.accepts(SourceID(source)))
            }
        }
        for source in ["", "nonsense", "search:", "search:a\nb", "album", "ALL"] {
            #expect(!fixture.session.accepts(SourceID(source)))
        }
        #expect(fixture.http.requests.value.isEmpty)
    }

    @Test(arguments: [
        (401, #"{"message":"Invalid API key"}"#, ProviderError.unauthorized),
        (401, "{}", .otherLogin("photos.example")),
        (401, "401 Unauthorized", .otherLogin("photos.example")),
        (511, "<html>", .otherLogin("photos.example")), (429, "{}", .rateLimited(until: nil)),
        (403, #"{"message":"Missing required permission: asset.read"}"#, lacks("asset.read")),
        (403, #"{"message":"Missing required permission: <b>\u0007"}"#, lacks("asset.read")),
        (
            403, #"{"message":"Forbidden"}"#,
            .denied(
                "photos.example does not allow the request, which needs the permission asset.read.")
        ),
        (503, "<html>", .failed("photos.example failed with status 503; try again later.")),
        (
            400, #"{"message":["page must be a number"]}"#,
            .failed(
                "photos.example rejected the request (page must be a number); check the address of the server."
            )
        ),
    ])
    func `a status is translated`(status: Int, body: String, expected: ProviderError) async {
        let session = ScriptedSession(responding: .json(body, status: status)).session
        await #expect(throws: expected) { try await session.page("all") }
    }

    @Test(arguments: [401, 403, 511])
    func `the page of a gateway for an image is another login`(status: Int) async {
        let session = ScriptedSession(responding: .json("<html>", status: status)).session
        await #expect(throws: ProviderError.otherLogin("photos.example")) {
            try await session.imageClient.downloadImage(
                "https://photos.example/api/assets/\(Self.id)/original")
        }
    }

    @Test(arguments: [
        (#"{"message":"Missing required permission: asset.update"}"#, lacks("asset.update")),
        (
            #"{"message":"Forbidden"}"#,
            .refused("photos.example does not let this account like this photo (Forbidden).")
        ),
        ("Forbidden", .otherLogin("photos.example")),
    ])
    func `status 403 for a like concerns only its photo unless a permission is missing`(
        body: String, expected: ProviderError
    ) async {
        let session = ScriptedSession { request in
            request.url.hasSuffix("/server/version")
                ? .json(#"{"major":3,"minor":0,"patch":0}"#) : .json(body, status: 403)
        }.session
        await #expect(throws: expected) { try await session.setLiked(Self.id, true) }
    }

    @Test func `a ThumbHash has an average colour`() throws {
        // The examples of the reference implementation.
        #expect(ModelMapping.averageColor(thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI") == "#565258")
        for text in ["", "1QcS", "1QcSHQ", "not base64", String(repeating: "A", count: 4000)] {
            #expect(ModelMapping.averageColor(thumbHash: text) == nil)
        }
        #expect(ModelMapping.averageColor(thumbHash: "AAAAAAAA") != nil)
        #expect(ModelMapping.averageColor(thumbHash: "////////") != nil)
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["search", "album", "lists", "user"])
    func `mutated responses cause only errors of the service`(name: String) async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let example = Array(try Data(contentsOf: folder.appending(path: "Examples/\(name).json")))
        var random = SeededRandom(seed: 21)
        for _ in 0..<300 {
            let body = example.mutated(with: [#""}],"#, "-1e99"], using: &random)
            try await callAll(HTTPResponse(status: 200, body: body, url: ""))
        }
    }

    /// Calls all functions of a session at a server that sends the same response to every request.
    private func callAll(_ response: HTTPResponse) async throws {
        let session = ScriptedSession(responding: response).session
        func attempt(_ call: () async throws -> Void) async throws {
            do {
                try await call()
            } catch is ProviderError {}
        }
        for source in ["all", "likes", "memories", "album:\(Self.id)", "search:a"] {
            try await attempt {
                let page = try await session.page(source)
                for photo in page.photos {
                    for address in photo.images.values { #expect(WebAddress(address) != nil) }
                    _ = session.downloadAddress(photo)
                }
            }
        }
        try await attempt { _ = try await session.sources() }
        try await attempt { _ = try await session.fetchPhoto(Self.id) }
        try await attempt { try await session.setLiked(Self.id, true) }
        try await attempt { _ = try await session.profile() }
    }
}
