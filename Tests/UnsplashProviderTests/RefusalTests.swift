import ProviderKit
import TestSupport
import Testing
import WebService

@testable import UnsplashProvider

struct RefusalTests {
    /// 2023-11-14 22:13:20 UTC.
    private static let now = Timestamp(secondsSince1970: 1_700_000_000)
    private static let nextHour = Timestamp(secondsSince1970: 1_700_002_800)

    private static let like = Refusal.Subject.like(PhotoID("a"))

    private static func error(
        _ response: HTTPResponse, _ subject: Refusal.Subject = .photo(PhotoID("a"))
    ) -> ProviderError? { Refusal(response, subject, .unsplash, now: now).error }

    private static func isFailure(_ error: ProviderError?) -> Bool {
        error?.isCase(of: ProviderError.failed) == true
    }

    @Test(arguments: [200, 201, 204, 299])
    func `a success is not an error`(status: Int) {
        #expect(Self.error(.json("", status: status)) == nil)
    }

    @Test func `recorded errors are translated`() throws {
        #expect(Self.error(try recordings.response("me_401"), .user) == .unauthorized)
        #expect(
            Self.error(try recordings.response("photo_404"))
                == .notFound("There is no photo \"a\" at Unsplash."))
        #expect(
            Self.error(try recordings.response("user_404"), .source(SourceID("user:x")))
                == .notFound("There is no source \"user:x\" at Unsplash."))
        #expect(
            Self.error(try recordings.response("rate_limit_403", "txt"))
                == .rateLimited(until: Self.nextHour))
        let denied = Self.error(try recordings.response("error_403_missing_scope"), Self.like)
        #expect(denied?.isCase(of: ProviderError.denied) == true)
        #expect(denied?.message.contains("like photos (OAuth error: missing permissions)") == true)
    }

    @Test(arguments: ["", "{}", "Unauthorized", #"{"error":"unauthorized"}"#, "<html>"])
    func `status 401 of another program refuses no token`(body: String) throws {
        #expect(Self.error(.json(body, status: 401)) == .otherLogin("Unsplash"))
        let refusals = try UnsplashProvider().oauth(ProviderSettings()).tokenRefusals
        #expect(refusals.map(\.status) == [401])
        let text = try #require(refusals[0].text)
        #expect(!body.contains(text))
        #expect(String(decoding: try recordings.body("me_401"), as: UTF8.self).contains(text))
    }

    @Test(
        arguments: [
            (403, "Rate Limit Exceeded", [:], 2800), (429, "", [:], 2800),
            (403, #"{"errors":["x"]}"#, ["X-RateLimit-Remaining": "0"], 2800),
            (403, #"{"errors":["Rate limit reached"]}"#, [:], 2800),
            (429, "", ["Retry-After": "7"], 7),
            (429, "", ["Retry-After": "9223372036854775807"], 86400),
            (403, "rate limit", ["Retry-After": "nonsense"], 2800),
            (429, "", ["Retry-After": "Tue, 14 Nov 2023 22:14:20 GMT"], 60),
        ] as [(Int, String, HTTPHeaders, Int64)])
    func `a rate limit ends at the stated time or the next full hour`(
        status: Int, body: String, headers: HTTPHeaders, seconds: Int64
    ) {
        let until = Self.now + .seconds(seconds)
        #expect(Self.error(.json(body, status: status, headers)) == .rateLimited(until: until))
    }

    @Test func `a rate limit at a full hour ends an hour later`() {
        let refusal = Refusal(.json("", status: 429), .user, .unsplash, now: Self.nextHour)
        #expect(refusal.error == .rateLimited(until: Self.nextHour + .seconds(3600)))
    }

    @Test(arguments: [
        (500, ""), (503, "<html>"), (502, "{"), (302, ""), (100, ""), (418, "{}"), (403, "<html>"),
        (403, ""), (404, "<!DOCTYPE html>"), (400, #"{"errors":["page is invalid"]}"#), (999, ""),
    ])
    func `an unexpected response is a failure`(status: Int, body: String) {
        #expect(Self.isFailure(Self.error(.json(body, status: status))))
    }

    @Test func `status 403 for a like concerns only its photo unless a permission is missing`() {
        let response = HTTPResponse.json(#"{"errors":["You cannot like this photo"]}"#, status: 403)
        #expect(
            Self.error(response, Self.like)
                == .refused(
                    "Unsplash does not let this account like this photo (You cannot like this photo)."
                ))
        #expect(Self.error(response)?.isCase(of: ProviderError.denied) == true)
    }

    @Test(arguments: [400, 422])
    func `a rejected like concerns only its photo`(status: Int) {
        let body = #"{"errors":["Photo cannot be liked"]}"#
        #expect(
            Self.error(.json(body, status: status), Self.like)
                == .refused(
                    "Unsplash does not accept a like of this photo (Photo cannot be liked)."))
        // The page of a proxy says nothing about the photo.
        #expect(Self.isFailure(Self.error(.json("<html>", status: status), Self.like)))
    }

    @Test(arguments: [404, 410])
    func `an HTML page does not mean that a photo or the likes are missing`(status: Int) {
        let page = HTTPResponse(
            status: status, headers: ["Content-Type": "text/html; charset=utf-8"], url: "")
        #expect(Self.isFailure(Self.error(page)))
        #expect(Self.isFailure(Self.error(page, Self.like)))
        let error = Self.error(.json("{}", status: status), Self.like)
        #expect(error?.isCase(of: ProviderError.notFound) == true)
    }

    @Test(arguments: [404, 410])
    func `the editorial source is not missing`(status: Int) {
        let gone = HTTPResponse.json(#"{"errors":["Not Found"]}"#, status: status)
        #expect(Self.isFailure(Self.error(gone, .source(SourceID("editorial")))))
    }

    @Test func `rejected search terms are an invalid argument`() {
        let response = HTTPResponse.json(#"{"errors":["Query flagged as spam"]}"#, status: 410)
        let error = Self.error(response, .source(SourceID("search:x")))
        let isInvalid = if case .invalidArgument = error { true } else { false }
        #expect(isInvalid, "\(String(describing: error))")
        #expect(
            Self.error(response, .source(SourceID("topic:x")))
                == .notFound("There is no source \"topic:x\" at Unsplash."))
        let unprocessable = HTTPResponse.json(#"{"errors":["query is empty"]}"#, status: 422)
        #expect(
            Self.error(unprocessable, .source(SourceID("search:x")))
                == .invalidArgument(
                    "Unsplash does not accept the source \"search:x\" (query is empty)."))
    }

    @Test(arguments: [
        "see https://api.unsplash.com/?access_token=hidden", String(repeating: "hidden", count: 99),
    ])
    func `error texts with a possible secret are not quoted`(text: String) {
        for status in [400, 403] {
            let error = Self.error(.json(#"{"errors":["\#(text)"]}"#, status: status))
            #expect(error != nil)
            #expect(!"\(String(describing: error))".contains("hidden"))
        }
    }
}
