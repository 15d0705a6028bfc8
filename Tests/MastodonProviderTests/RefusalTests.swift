import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

struct RefusalTests {
    private func error(
        _ response: HTTPResponse, _ subject: Refusal.Subject = .source(SourceID("home"))
    ) -> ProviderError? {
        Refusal(
            response: response, subject: subject, server: "photos.example", now: Fixture.now
        ).error
    }

    @Test func `the status decides, in whatever language the text is`() throws {
        #expect(try error(recordings.response("timelines_home_401")) == .unauthorized)
        #expect(try error(recordings.response("after_revoke_401_localised")) == .unauthorized)
        guard case .denied(let text) = try error(recordings.response("scope_403")) else {
            Issue.record("not denied")
            return
        }
        #expect(text.contains("(This action is outside the authorized scopes)."))
        let japanese = try recordings.response("status_422_too_long_ja")
        guard case .invalidArgument = error(japanese) else {
            Issue.record("not the caller's mistake")
            return
        }
    }

    @Test func `Pixelfed's way to say who are you is understood`() {
        #expect(error(.json(#"{"error":"Unauthenticated."}"#, status: 500)) == .unauthorized)
        guard case .failed = error(.json(#"{"error":"Server Error"}"#, status: 500)) else {
            Issue.record("not a failure")
            return
        }
    }

    @Test func `a withdrawn token is recognised in every dialect`() {
        let pleroma = #"{"error":"Insufficient permissions: read:accounts."}"#
        #expect(error(.json(pleroma, status: 403), .user) == .unauthorized)
        #expect(error(.json("Invalid Bearer token", status: 400)) == .unauthorized)
        // Elsewhere, a 403 may be that of a photo or a source.
        guard case .denied = error(.json(pleroma, status: 403)),
            case .denied = error(.json(pleroma, status: 403), .like(PhotoID("1.a")))
        else {
            Issue.record("not denied")
            return
        }
        // A page comes from something else than the API.
        guard case .failed = error(.json("<html>", status: 403), .user) else {
            Issue.record("taken for a refusal")
            return
        }
    }

    @Test func `a limit ends when the server says`() throws {
        let limited = try recordings.response("error_429")
        #expect(
            error(limited) == .rateLimited(until: Timestamp(rfc3339: "2026-08-01T13:55:01Z")))
        #expect(
            error(.json("", status: 429, ["Retry-After": "60"]))
                == .rateLimited(until: Fixture.now + .seconds(60)))
        #expect(error(.json("<html>", status: 429)) == .rateLimited(until: nil))
        // A clock that is an hour off is off by as much in both.
        let headers: HTTPHeaders = [
            "X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "2026-08-01T12:59:00.5Z", "Date": "Sat, 01 Aug 2026 12:54:00 GMT",
        ]
        #expect(
            RateLimitHeaders(headers, now: Fixture.now)?.reset == Fixture.now + .seconds(301))
    }

    @Test func `the end of a day's likes is not the end of all`() {
        guard case .failed = error(.json("{}", status: 429), .like(PhotoID("1.a"))) else {
            Issue.record("not for later")
            return
        }
        let limit: HTTPHeaders = [
            "X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "2026-08-01T13:55:00.000000Z",
        ]
        guard case .rateLimited = error(.json("{}", status: 429, limit), .like(PhotoID("1.a")))
        else {
            Issue.record("not limited")
            return
        }
    }

    @Test(arguments: [403, 422, 400])
    func `a like that is refused is refused for that photo`(status: Int) {
        guard case .refused = error(.json("{}", status: status), .like(PhotoID("1.a"))) else {
            Issue.record("not refused")
            return
        }
        // As Pixelfed words it.
        let laravel = #"{"message":"The given data was invalid.","errors":{"id":["No."]}}"#
        #expect(
            error(.json(laravel, status: status), .like(PhotoID("1.a")))?.description
                .contains("(The given data was invalid)") == true)
        // A proxy says nothing about the photo.
        guard case .failed = error(.json("<html>", status: status), .like(PhotoID("1.a"))) else {
            Issue.record("a page was taken for a refusal")
            return
        }
    }

    @Test func `a token without the permission to like is no refusal of a photo`() throws {
        let like = Refusal.Subject.like(PhotoID("1.a"))
        guard case .denied = try error(recordings.response("scope_403"), like) else {
            Issue.record("not denied")
            return
        }
        guard
            case .refused = try error(recordings.response("action_403_not_allowed"), like)
        else {
            Issue.record("not refused")
            return
        }
    }

    @Test(arguments: [400, 403, 404, 410, 422, 302, 503])
    func `a page for people says nothing about photos`(status: Int) {
        guard
            case .failed = error(
                .json("<!DOCTYPE html>", status: status), .photo(PhotoID("1.a")))
        else {
            Issue.record("taken for an answer")
            return
        }
    }

    @Test func `every refusal is a sentence`() {
        let subjects: [Refusal.Subject] = [
            .photo(PhotoID("1.a")), .source(SourceID("home")), .like(PhotoID("1.a")), .user,
            .server,
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
