import ProviderKit
import TestSupport
import Testing
import Translation
import WebService

@testable import MastodonProvider

struct RefusalTests {
    private func error(
        _ response: HTTPResponse, _ subject: Refusal.Subject = .source(SourceID("home"))
    ) -> ProviderError? {
        Refusal(response, subject, ServiceDescription("photos.example"), now: Fixture.now).error
    }

    /// Expects an error of a case, with any message.
    private func expect(
        _ create: (Message) -> ProviderError, _ response: HTTPResponse,
        _ subject: Refusal.Subject = .source(SourceID("home")),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = error(response, subject)
        let isExpected = error?.isCase(of: create) == true
        #expect(isExpected, "\(String(describing: error))", sourceLocation: sourceLocation)
    }

    @Test func `the status decides, not the translated text`() throws {
        #expect(try error(recordings.response("timelines_home_401")) == .unauthorized)
        #expect(try error(recordings.response("after_revoke_401_localised")) == .unauthorized)
        let scope = try recordings.response("scope_403")
        expect(ProviderError.denied, scope)
        let reason = "(This action is outside the authorized scopes)."
        #expect(error(scope)?.message.contains(reason) == true)
        let japanese = error(try recordings.response("status_422_too_long_ja"))
        let isInvalid = if case .invalidArgument = japanese { true } else { false }
        #expect(isInvalid, "\(String(describing: japanese))")
    }

    @Test func `status 500 of Pixelfed without authentication is recognized`() {
        #expect(error(.json(#"{"error":"Unauthenticated."}"#, status: 500)) == .unauthorized)
        expect(ProviderError.failed, .json(#"{"error":"Server Error"}"#, status: 500))
    }

    @Test func `a revoked token is recognized in every dialect`() {
        let pleroma = #"{"error":"Insufficient permissions: read:accounts."}"#
        #expect(error(.json(pleroma, status: 403), .user) == .unauthorized)
        #expect(error(.json("Invalid Bearer token", status: 400)) == .unauthorized)
        // For other subjects, status 403 refers to the photo or source.
        expect(ProviderError.denied, .json(pleroma, status: 403))
        expect(ProviderError.denied, .json(pleroma, status: 403), .like(PhotoID("1.a")))
        // An HTML page does not come from the API.
        expect(ProviderError.failed, .json("<html>", status: 403), .user)
    }

    @Test func `the rate limit ends at the time of the server`() throws {
        let limited = try recordings.response("error_429")
        #expect(error(limited) == .rateLimited(until: Timestamp(rfc3339: "2026-08-01T13:55:01Z")))
        #expect(
            error(.json("", status: 429, ["Retry-After": "60"]))
                == .rateLimited(until: Fixture.now + .seconds(60)))
        #expect(error(.json("<html>", status: 429)) == .rateLimited(until: nil))
        // The clock of the server is an hour or years behind, in both fields.
        for (reset, date) in [
            ("2026-08-01T12:59:00.5Z", "Sat, 01 Aug 2026 12:54:00 GMT"),
            ("2016-08-01T12:59:00.5Z", "Mon, 01 Aug 2016 12:54:00 GMT"),
        ] {
            let headers: HTTPHeaders = [
                "X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": reset, "Date": date,
            ]
            #expect(RateLimit(headers, now: Fixture.now)?.reset == Fixture.now + .seconds(301))
        }
    }

    @Test func `the daily limit of likes does not affect other requests`() {
        expect(ProviderError.failed, .json("{}", status: 429), .like(PhotoID("1.a")))
        let limit: HTTPHeaders = [
            "X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "2026-08-01T13:55:00.000000Z",
        ]
        let limited = error(.json("{}", status: 429, limit), .like(PhotoID("1.a")))
        let isLimited = if case .rateLimited = limited { true } else { false }
        #expect(isLimited, "\(String(describing: limited))")
    }

    @Test(arguments: [403, 422, 400])
    func `a rejected like concerns only its photo`(status: Int) {
        expect(ProviderError.refused, .json("{}", status: status), .like(PhotoID("1.a")))
        // The error format of Pixelfed.
        let laravel = #"{"message":"The given data was invalid.","errors":{"id":["No."]}}"#
        #expect(
            error(.json(laravel, status: status), .like(PhotoID("1.a")))?.description
                .contains("(The given data was invalid)") == true)
        // The page of a proxy says nothing about the photo.
        expect(ProviderError.failed, .json("<html>", status: status), .like(PhotoID("1.a")))
    }

    @Test func `a missing permission to like does not concern a single photo`() throws {
        let like = Refusal.Subject.like(PhotoID("1.a"))
        expect(ProviderError.denied, try recordings.response("scope_403"), like)
        expect(ProviderError.refused, try recordings.response("action_403_not_allowed"), like)
    }

    /// Expects an error of a case for each kind of item that may be missing.
    private func expectOfItems(
        _ create: (Message) -> ProviderError, _ body: String, _ headers: HTTPHeaders
    ) {
        for status in [404, 410] {
            let response = HTTPResponse.json(body, status: status, headers)
            expect(create, response, .photo(PhotoID("1.a")))
            expect(create, response, .like(PhotoID("1.a")))
            expect(create, response, .source(SourceID("tag:fog")))
        }
    }

    @Test(
        arguments: [
            ("", [:]), ("{}", [:]),
            ("<h1>404 Not Found (snac/2.75)</h1>", ["X-Creator": "snac/2.75"]),
            ("<html>", ["Content-Type": "text/html", "X-RESPONSE-TYPE": "html"]),
            (#"<!DOCTYPE html><script src="/static/js/takahe.min.b71a1f.js"></script>"#, [:]),
        ] as [(String, HTTPHeaders)])
    func `an item that the server does not find is missing`(body: String, headers: HTTPHeaders) {
        expectOfItems(ProviderError.notFound, body, headers)
    }

    @Test(arguments: [404, 410])
    func `a source that every server has is not missing`(status: Int) {
        for id in ["home", "local", "public"] {
            expect(ProviderError.failed, .json("", status: status), .source(SourceID(id)))
        }
        // The engine shows no likes.
        expect(ProviderError.notFound, .json("", status: status), .source(SourceID("likes")))
    }

    @Test(arguments: [["Content-Type": "text/html"], ["X-Creator": "gateway/1"]] as [HTTPHeaders])
    func `the page of a gateway does not mean that an item is missing`(headers: HTTPHeaders) {
        let body = "<html><center><h1>404 Not Found</h1></center><hr><center>nginx</center></html>"
        expectOfItems(ProviderError.failed, body, headers)
    }

    @Test(arguments: [400, 403, 422, 302, 503])
    func `an HTML page is a failure`(status: Int) {
        expect(
            ProviderError.failed, .json("<!DOCTYPE html>", status: status), .photo(PhotoID("1.a")))
    }

    @Test(arguments: ["", "{}", "401 Unauthorized", #"{"code":401}"#, "<html>"])
    func `status 401 of another program refuses no token`(body: String) {
        #expect(error(.json(body, status: 401)) == .otherLogin("photos.example"))
        #expect(error(.json("<html>", status: 511)) == .otherLogin("photos.example"))
        for own in [#"{"message":"Unauthenticated."}"#, #"{"error":{"code":"x"}}"#] {
            #expect(error(.json(own, status: 401)) == .unauthorized)
        }
    }

    @Test func `every error is a sentence without an address`() {
        let subjects: [Refusal.Subject] = [
            .photo(PhotoID("1.a")), .source(SourceID("home")), .like(PhotoID("1.a")), .user,
            .other("read the server description"),
        ]
        for status in [302, 400, 401, 403, 404, 410, 418, 422, 429, 500, 503] {
            for subject in subjects {
                for body in ["", "{}", #"{"error":"No."}"#, #"{"message":"Go to https://x/?t=1"}"#]
                {
                    let text = "\(error(.json(body, status: status), subject), default: "")"
                    #expect(text.hasSuffix(".") && !text.contains("..") && !text.contains("https"))
                }
            }
        }
    }
}
