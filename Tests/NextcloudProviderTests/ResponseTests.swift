import Foundation
import Logging
import ProviderKit
import TestSupport
import Testing
import WebService

@testable import NextcloudProvider

/// Tests of errors, invalid responses and logins.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ResponseTests {
    private func error(
        _ response: HTTPResponse, _ call: (NextcloudSession) async throws -> Void
    ) async -> ProviderError? {
        await #expect(throws: ProviderError.self) {
            try await call(ScriptedSession(responding: response).session)
        }
    }

    private func pageError(_ response: HTTPResponse) async -> ProviderError? {
        await error(response) { _ = try await $0.page("all") }
    }

    @Test func `maintenance, throttling and an untrusted address are explained`() async throws {
        let other = ProviderError.otherLogin("cloud.example")
        let cases: [(Int, HTTPHeaders, String, ProviderError)] = [
            (
                503, ["X-Nextcloud-Maintenance-Mode": "1", "Retry-After": "120"], "",
                .failed("cloud.example is in maintenance mode; try again later.")
            ), (429, [:], "", .rateLimited(until: nil)),
            (
                429, ["Retry-After": "60"], "",
                .rateLimited(until: Timestamp(secondsSince1970: 1_785_592_500))
            ), (403, [:], "<html>", other), (511, [:], "<html>", other), (302, [:], "", other),
            (303, [:], "", other), (307, [:], "", other),
            (502, [:], "", .failed("cloud.example failed with status 502; try again later.")),
        ]
        for (status, headers, body, expected) in cases {
            #expect(await pageError(.json(body, status: status, headers)) == expected)
        }
        let untrusted = await pageError(
            .json(
                "<!DOCTYPE html><h2>Access through untrusted domain</h2> trusted domain",
                status: 400, ["Content-Type": "text/html"]))
        #expect(untrusted.map { "\($0)".contains("trusted_domains") } == true)
    }

    @Test(arguments: [
        "", "{}", "Unauthorized", #"{"error":"unauthorized"}"#, "<html>",
        #"{"ocs":{"meta":{"status":"failure","statuscode":997}}}"#,
    ])
    func `status 401 of another program refuses no token`(body: String) async throws {
        let other = HTTPResponse.json(body, status: 401)
        #expect(await pageError(other) == .otherLogin("cloud.example"))
        let error = await error(other) { _ = try await $0.profile() }
        #expect(error == .otherLogin("cloud.example"))
        let access = try NextcloudProvider().access(ProviderSettings(), server: "cloud.example")
        for refusal in access.refusals {
            let name = try #require(refusal.text)
            let own = HTTPResponse.davError("<s:exception>\(name)</s:exception>", status: 401)
            #expect(await pageError(own) == .unauthorized)
        }
    }

    @Test(arguments: [404, 410])
    func `the page of a gateway does not mean that a photo is missing`(status: Int) async throws {
        let page = HTTPResponse.json("<html><h1>404 Not Found</h1></html>", status: status)
        for (body, expected) in [
            (page, ProviderError.failed), (.json("", status: status), ProviderError.notFound),
        ] {
            let session = ScriptedSession(responding: body).session
            await expectThrown(expected) { try await session.fetchPhoto("117") }
        }
    }

    @Test(arguments: [
        "", "{}", "<html><body>Welcome</body></html>", "<!DOCTYPE html><p>", "<a/>",
        "<d:multistatus xmlns:d=\"DAV:\">", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
    ])
    func `another document is an invalid response`(body: String) async throws {
        for status in [200, 207] {
            let error = await pageError(.json(body, status: status))
            let text = "\(error, default: "")"
            #expect(
                text.contains("invalid response")
                    || body.contains("html") && text.contains("Another login stands before"))
        }
    }

    @Test(arguments: [
        "//evil.test/a.jpg", "http://evil.test/a.jpg", "a.jpg", "/a/../b.jpg", "/a b.jpg", "",
        "/a.jpg?x=1", "/a#b",
    ])
    func `a file with an invalid path is left out`(path: String) async throws {
        let session = ScriptedSession(responding: .json(document(path: path), status: 207)).session
        #expect(try await session.page("all").photos.isEmpty)
    }

    @Test func `properties of the wrong type are unknown`() async throws {
        let fixture = ScriptedSession(
            photo: """
                <d:getlastmodified>yesterday</d:getlastmodified><oc:favorite></oc:favorite>
                <nc:metadata-photos-size><width>-1</width><height>x</height></nc:metadata-photos-size>
                <nc:metadata-photos-original_date_time>99999999999999999999</nc:metadata-photos-original_date_time>
                <nc:metadata-photos-gps><latitude>91</latitude><longitude>nan</longitude></nc:metadata-photos-gps>
                <nc:metadata-blurhash>&lt;b&gt;</nc:metadata-blurhash>
                <nc:metadata-photos-ifd0><Make>base64:gIGC</Make><Model>base64:gIGC</Model></nc:metadata-photos-ifd0>
                """)
        let page = try await fixture.session.page("all")
        let photo = try #require(page.photos.first)
        #expect(photo.photo.created == nil && photo.photo.updated == nil)
        #expect(photo.photo.width == nil && photo.photo.height == nil)
        #expect(photo.photo.latitude == nil && photo.photo.longitude == nil)
        #expect(photo.photo.blurHash == nil && !photo.hasLikeState && photo.photo.camera == nil)
    }

    @Test
    func `a full window with entries that cannot be read is not the end, and they are counted`()
        async throws
    {
        // The server returns as many entries as the limit, one of which has an invalid path, and another no ID.
        let fixture = ScriptedSession { request in
            let body = String(decoding: request.body, as: UTF8.self)
            guard request.method.rawValue == "SEARCH" else {
                return HTTPResponse(status: 404, url: request.url)
            }
            let isDated = !body.contains("is-defined") && !body.contains(".nomedia")
            let entries = (0..<(isDated ? 100 : 0)).map { number in
                entry(
                    path: "/remote.php/dav/files/ada/\(number == 7 ? "a?b" : "\(number)").jpg",
                    id: number == 9 ? nil : number + 1,
                    "<nc:metadata-photos-original_date_time>\(1_750_000_000 - number)</nc:metadata-photos-original_date_time>"
                )
            }
            let missing =
                "<d:response><d:href>/remote.php/dav/files/ada/b.jpg</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>"
            return .json(document(of: isDated ? entries + [missing] : []), status: 207)
        }
        let page = try await fixture.session.page("all")
        #expect(page.photos.count == 97 && page.next != nil)
        let notices = await fixture.session.finalNotices().last
        #expect(notices?.map { $0.prefix(9) } == ["3 images "])
    }

    @Test func `the IDs of images that can be shown are composed only while others are omitted`() {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let omissions = OmittedImages("photos.example", logger, nil)
        var count = 0
        func id() -> String {
            count += 1
            return "1"
        }
        omissions.remove([id()])
        #expect(count == 0)
        omissions.record(["2"], "its address is invalid")
        omissions.remove([id()])
        #expect(count == 1)
    }

    @Test(arguments: [
        ("ServerMaintenanceMode", 503, "", "is in maintenance mode"),
        (
            "ServerMaintenanceMode", 503, #"{"installed":true,"needsDbUpgrade":true}"#,
            "is being upgraded"
        ),
        (
            "ServiceUnavailable", 503, #"{"installed":true,"maintenance":true}"#,
            "is in maintenance mode"
        ),
        ("OC\\User\\DisabledUserException: User disabled", 503, "", "is disabled"),
    ])
    func `a server or an account that is not available is explained`(
        text: String, status: Int, statusDocument: String, sentence: String
    ) async throws {
        let session = ScriptedSession { request in
            request.url.hasSuffix("/status.php")
                ? .json(statusDocument)
                : .davError("<s:message>\(text)</s:message>", status: status)
        }.session
        let reason = await expectThrown(ProviderError.failed) { _ = try await session.page("all") }
        #expect(reason?.contains(sentence) == true, "\(reason ?? "")")
    }

    @Test(arguments: [Int64.min, -62_167_219_201, 253_402_300_800, .max])
    func `a time that is not possible is unknown`(seconds: Int64) async throws {
        let name = "nc:metadata-photos-original_date_time"
        let session = ScriptedSession(photo: "<\(name)>\(seconds)</\(name)>").session
        let page = try await session.page("all")
        #expect(page.photos.map(\.photo.created) == [nil])
        await #expect(throws: ProviderError.staleCursor) {
            try await session.page("all", from: "\(seconds):1")
        }
    }

    @Test(arguments: ["x", "1", "1:2:3", "a:b", "1:-2", "999999999999999:1"])
    func `an invalid page token is a lost position`(token: String) async throws {
        let session = ScriptedSession(responding: HTTPResponse(status: 500, url: "")).session
        await #expect(throws: ProviderError.staleCursor) {
            try await session.page("all", from: token)
        }
    }

    @Test(arguments: ["", "album:", "album:a/b", "album:..", "search:a", "all2", "shared:\n"])
    func `an ID of no source is not accepted`(id: String) {
        #expect(NextcloudSource(SourceID(id)) == nil)
    }

    @Test(arguments: ["search.xml", "albums.xml", "error.xml", "user.json"])
    func `changed documents result in photos or errors`(name: String) async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let example = Array(try Data(contentsOf: folder.appending(path: "Examples/\(name)")))
        var generator = SeededRandom(seed: 7)
        var photos = 0
        for _ in 0..<250 {
            let body = example.mutated(with: ["-9223372036854775808"], using: &generator)
            let session = ScriptedSession(settings: ProviderSettings(["ShowLocation": "true"])) {
                HTTPResponse(status: $0.method == .get ? 200 : 207, body: body, url: $0.url)
            }.session
            photos += (try? await session.page("all"))?.photos.count ?? 0
            _ = try? await session.page("album:a", from: "1750000000:7")
            _ = try? await session.sources()
            _ = try? await session.setLiked("117", true)
            _ = try? await session.profile()
        }
        #expect((photos > 0) == (name == "search.xml"))
    }

    // MARK: Logins

    private func describe(
        _ server: String, _ answer: @escaping ScriptedHTTP.Answer
    ) async throws -> (PollingDescription, [String]) {
        let http = ScriptedHTTP(answer)
        let name = try NextcloudProvider().server(server, ProviderSettings())
        let description = try await NextcloudProvider().describeLogin(name, SessionPorts(http))
        return (description, http.requests.value.map(\.url))
    }

    @Test(arguments: [
        ("cloud.example", "cloud.example", 1), ("https://Cloud.example/", "cloud.example", 1),
        ("https://cloud.example:443/apps/files/?dir=/", "cloud.example", 1),
        ("cloud.example/index.php/login", "cloud.example", 1),
        ("cloud.example/s/abc", "cloud.example", 1),
        ("cloud.example/nextcloud", "cloud.example/nextcloud", 1),
        ("cloud.example/nextcloud/index.php/apps/photos", "cloud.example/nextcloud", 1),
        ("cloud.example/nextcloud/unknown/page", "cloud.example/nextcloud", 3),
        ("http://192.168.1.2:8080/nextcloud/", "http://192.168.1.2:8080/nextcloud", 1),
    ])
    func `the path of a server is found from the address of a page`(
        text: String, name: String, requests: Int
    ) async throws {
        let base = (name.contains("://") ? name : "https://\(name)")
        let (description, urls) = try await describe(text) { request in
            request.url == base + "/status.php"
                ? .json(#"{"installed":true,"maintenance":false,"version":"31.0.2.1"}"#)
                : HTTPResponse(status: 404, url: request.url)
        }
        #expect((description.server, description.startURL) == (name, base + "/index.php/login/v2"))
        let revocation = try #require(description.revocation)
        #expect(revocation.url == base + "/ocs/v2.php/core/apppassword")
        #expect((revocation.method, revocation.headers["OCS-APIRequest"]) == (.delete, "true"))
        #expect(urls.count == requests)
        let access = try NextcloudProvider().access(ProviderSettings(), server: name)
        let origin = try #require(WebAddress(base)?.origin)
        #expect(access.keyOrigins == [origin] && access.namedOrigins == [origin])
    }

    @Test func `other software, maintenance and an incomplete installation are explained`()
        async throws
    {
        let answers: [(ScriptedHTTP.Answer, String)] = [
            ({ _ in .json("<html>", status: 404) }, "no Nextcloud server at cloud.example"),
            ({ _ in .json("<html>") }, "Another login stands before cloud.example"),
            ({ _ in .json("<html>", status: 403) }, "Another login stands before cloud.example"),
            ({ _ in .json(#"{"installed":false}"#) }, "no Nextcloud server"),
            ({ _ in .json(#"{"installed":true,"maintenance":true}"#) }, "maintenance mode"),
            ({ _ in .json("trusted domain", status: 400) }, "trusted_domains"),
            ({ _ in .json("", status: 502) }, "failed with status 502"),
        ]
        for (answer, text) in answers {
            let error = await #expect(throws: ProviderError.self) {
                try await describe("cloud.example", answer)
            }
            #expect(error.map { "\($0)".contains(text) } == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [" ", "ftp://cloud.example", "cloud example", "https://a:b@cloud.example"])
    func `an invalid address is rejected`(text: String) {
        #expect(throws: ProviderError.self) {
            try NextcloudProvider().server(text, ProviderSettings())
        }
    }

    @Test func `the identity is the ID of the user, not the login name`() async throws {
        let http = ScriptedHTTP { _ in
            .json(#"{"ocs":{"meta":{},"data":{"id":"ada","display-name":"Ada"}}}"#)
        }
        let account = AccountIdentity(username: "ada@mail.example", server: "cloud.example/a")
        let found = try await NextcloudProvider().identify(account, SessionPorts(http))
        #expect(found == AccountIdentity(username: "ada", server: "cloud.example/a", userID: "ada"))
        #expect(http.requests.value.first?.headers["OCS-APIRequest"] == "true")
    }
}
