import Foundation
import ProviderKit
import TestSupport
import Testing
import WebService

@testable import DailyProvider

/// Tests of responses that the simulator does not send.
@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
    private static func example(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return Array(try Data(contentsOf: folder.appending(path: "Examples/\(name)")))
    }

    /// Returns a session whose service sends the examples, with a change of the files.
    private static func session(
        _ change: @escaping @Sendable (String) -> String = { $0 }
    ) throws -> ScriptedSession {
        let templates = try example("templates.json")
        let files = try String(decoding: example("files.json"), as: UTF8.self)
        return ScriptedSession { request in
            let isTemplates = request.url.contains("prop=images")
            return HTTPResponse(
                status: 200, headers: ["Content-Type": "application/json"],
                body: isTemplates ? templates : Array(change(files).utf8), url: request.url)
        }
    }

    @Test func `the examples have one picture`() async throws {
        let page = try await Self.session().session.page("all")
        let photo = try #require(page.photos.first)
        #expect(page.photos.count == 1)
        #expect(photo.photo.id == PhotoID("2026-11-21-148273645"))
        #expect(
            [photo.photo.author, photo.photo.license] == [
                "Ada Lovelace, CC BY-SA 4.0", "CC BY-SA 4.0",
            ])
        #expect(photo.photo.licenseURL == "https://creativecommons.org/licenses/by-sa/4.0")
        #expect(photo.photo.title == "Violet-backed starling")
        #expect(photo.photo.created == Day("2026-11-21")?.localStart)
        #expect(photo.images[.thumb]?.hasPrefix("https://thumb.wikimedia.org/") == true)
    }

    @Test func `every request names the maximum lag and at most fifty pages`() async throws {
        let scripted = try Self.session()
        _ = try await scripted.session.page("all")
        let requests = scripted.http.requests.value
        #expect(requests.count == 3)
        for request in requests {
            #expect(request.url.hasPrefix("https://commons.wikimedia.org/w/api.php?action=query&"))
            #expect(request.url.contains("&maxlag=5&"))
            #expect(request.maximumBytes <= 4 << 20)
            #expect(request.url.utf8.count < 2000)
        }
    }

    @Test(arguments: [
        ("\"mime\": \"image/jpeg\"", "\"mime\": 7"), ("\"imageinfo\"", "\"imageinfos\""),
        ("https://upload.wikimedia.org", "ftp://upload.wikimedia.org"),
        ("https://upload.wikimedia.org", "http://127.0.0.1"),
        ("\"pageid\": 148273645", "\"pageid\": -1"),
    ])
    func `a file that cannot be shown is left out`(part: String, replacement: String) async throws {
        let scripted = try Self.session { $0.replacingOccurrences(of: part, with: replacement) }
        let page = try await scripted.session.page("all")
        #expect((page.photos.isEmpty, page.next) == (true, "2026-10-23"))
    }

    @Test func `missing texts and sizes leave out only their fields`() async throws {
        let scripted = try Self.session {
            $0.replacingOccurrences(of: "\"extmetadata\"", with: "\"other\"")
                .replacingOccurrences(of: "\"width\": 5184", with: "\"width\": -5184")
                .replacingOccurrences(of: "\"responsiveUrls\"", with: "\"urls\"")
        }
        let page = try await scripted.session.page("all")
        let photo = try #require(page.photos.first)
        #expect(photo.photo.author == nil && photo.photo.width == nil)
        #expect(photo.photo.title == "Violet-backed starling female")
        #expect(Set(photo.images.keys) == [.thumb, .regular, .full])
    }

    @Test(arguments: [
        (200, "{}"), (200, "[]"), (200, "null"), (200, "<html>"), (404, "{}"), (403, "no"),
        (500, "no"), (200, #"{"error": {"code": "internal_api_error", "info": "Caught"}}"#),
        (200, #"{"query": {"pages": {"1": {}}}}"#),
    ])
    func `an invalid response is an error`(status: Int, body: String) async throws {
        let scripted = ScriptedSession(responding: body, status: status)
        for call in 0..<3 {
            let text = await expectThrown(ProviderError.failed) {
                switch call {
                case 0: _ = try await scripted.session.page("all")
                case 1: _ = try await scripted.session.fetchPhoto("2026-11-21-7")
                default: _ = try await scripted.session.profile()
                }
            }
            #expect(text?.hasSuffix(".") == true)
        }
    }

    @Test func `a refusal carries the sentence of the service`() async throws {
        // Source: a response of commons.wikimedia.org in 2026.
        let body =
            "Please set a user-agent and respect our robot policy https://w.wiki/4wJS. See also T400119."
        let scripted = ScriptedSession(responding: body, status: 403)
        let text = await expectThrown(ProviderError.failed) {
            try await scripted.session.page("all")
        }
        #expect(
            text
                == "Wikimedia Commons rejected the request with status 403 (Please set a user-agent and respect our robot policy)."
        )
    }

    @Test(arguments: [
        (nil, false, false), (nil, true, true), ("http://127.0.0.1:1/w/api.php", false, true),
    ])
    func `a login at Wikimedia requires a contact`(
        address: String?, hasContact: Bool, isAccepted: Bool
    ) async throws {
        let provider = DailyProvider { hasContact }
        let ports = SessionPorts(
            ScriptedHTTP(), ProviderSettings(address.map { ["ApiUrl": $0] } ?? [:]))
        let account = AccountIdentity(username: "")
        guard !isAccepted else {
            #expect(try await provider.identify(account, ports).username == "commons")
            return
        }
        let text = await expectThrown(ProviderError.notConfigured) {
            try await provider.identify(account, ports)
        }
        #expect(text?.contains("Contact=") == true)
    }

    @Test(arguments: 0..<40)
    func `changed bytes of a response do not end the program`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let examples = [try Self.example("templates.json"), try Self.example("files.json")]
        for _ in 0..<20 {
            let texts = ["999999999999999999999", "\"<a href=//[&#x110000;"]
            let changed = examples.map { $0.mutated(with: texts, using: &random) }
            let scripted = ScriptedSession { request in
                let body = request.url.contains("prop=images") ? changed[0] : changed[1]
                return HTTPResponse(status: 200, body: body, url: request.url)
            }
            do {
                let page = try await scripted.session.page("all")
                for photo in page.photos {
                    #expect(photo.photo.id.picture != nil)
                    for url in photo.images.values { #expect(url.hasPrefix("https://")) }
                }
            } catch is ProviderError {}
            _ = try? await scripted.session.fetchPhoto("2026-11-21-148273645")
            _ = try? await scripted.session.profile()
        }
    }

    @Test func `a list without an end is an error`() async throws {
        let scripted = ScriptedSession(
            responding: #"{"continue": {"imcontinue": "1"}, "query": {"pages": []}}"#)
        await #expect(throws: ProviderError.self) { try await scripted.session.page("all") }
        #expect(scripted.http.requests.value.count == 8)
    }

    @Test(arguments: [
        ["ApiUrl": "commons"], ["ApiUrl": "http://commons.wikimedia.org/w/api.php"],
        ["ApiUrl": "https://commons.wikimedia.org/w/api.php?a"],
    ])
    func `an invalid address requires a configuration`(settings: [String: String]) throws {
        #expect(throws: ProviderError.self) {
            try DailyProvider().access(ProviderSettings(settings), server: "")
        }
    }
}
