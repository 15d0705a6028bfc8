import ProviderKit
import TestSupport
import Testing

@testable import OAuth

struct OAuthTokenTests {
    private func token(lives seconds: Int64?, refresh: String? = "rt") -> OAuthToken {
        let obtained = Timestamp(secondsSince1970: 1_000_000)
        return OAuthToken(
            accessToken: Secret("at"), refreshToken: refresh.map { Secret($0) },
            scopes: ["a", "b"],
            obtained: obtained, expires: seconds.map { obtained + .seconds($0) })
    }

    @Test(arguments: [
        (7200, 0, false), (7200, 6599, false), (7200, 6600, true), (7200, 9999, true),
        (1200, 599, false), (1200, 600, true), (60, 29, false), (60, 30, true), (1, 1, true),
        // The clock was set back: a small difference is ignored, a larger one makes the expiry unknown.
        (7200, -600, false), (7200, -601, true),
    ])
    func `a token is due ten minutes before its expiry, or after half of its lifetime`(
        lifetime: Int64, age: Int64, isDue: Bool
    ) {
        let now = Timestamp(secondsSince1970: 1_000_000 + age)
        #expect(token(lives: lifetime).needsRefresh(now: now) == isDue)
        #expect(!token(lives: lifetime, refresh: nil).needsRefresh(now: now))
        #expect(!token(lives: nil).needsRefresh(now: now))
    }

    @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (0, 0), (.max, .max), (.min, .min)])
    func `extreme times do not overflow`(obtained: Int64, expires: Int64) {
        let token = OAuthToken(
            accessToken: Secret("at"), refreshToken: Secret("rt"), scopes: [],
            obtained: Timestamp(secondsSince1970: obtained),
            expires: Timestamp(secondsSince1970: expires))
        for now in [Int64.min, 0, .max] {
            _ = token.needsRefresh(now: Timestamp(secondsSince1970: now))
        }
        #expect(token.needsRefresh(now: Timestamp(secondsSince1970: 1_000_000)))
    }

    @Test func `a stored token is read unchanged`() throws {
        let stored = token(lives: 60).encoded
        #expect(
            stored.text == """
                {"access":"at","expires":1000060,"obtained":1000000,"refresh":"rt",\
                "scopes":["a","b"],"version":1}
                """)
        let read = try #require(OAuthToken(encoded: stored))
        #expect(read.encoded.matches(stored))
        let short = token(lives: nil, refresh: nil).encoded
        #expect(short.text == #"{"access":"at","obtained":1000000,"scopes":["a","b"],"version":1}"#)
        #expect(try #require(OAuthToken(encoded: short)).encoded.matches(short))
    }

    @Test func `unknown keys are ignored`() throws {
        let stored = Secret(
            #"{"access":"a\"/\\","more":{"x":[1]},"obtained":1,"scopes":[],"version":1}"#)
        let read = try #require(OAuthToken(encoded: stored))
        #expect(read.accessToken.text == #"a"/\"#)
        #expect(try #require(OAuthToken(encoded: read.encoded)).accessToken.text == #"a"/\"#)
    }

    @Test(arguments: [
        "", "at", "{}", "[]", #"{"access":"at","obtained":1,"scopes":[],"version":2}"#,
        #"{"access":"","obtained":1,"scopes":[],"version":1}"#,
        #"{"access":"a\n","obtained":1,"scopes":[],"version":1}"#,
        #"{"access":"at","obtained":"1","scopes":[],"version":1}"#,
    ])
    func `invalid data is no token`(text: String) {
        #expect(OAuthToken(encoded: Secret(text)) == nil)
    }

    @Test func `the description of a token contains no secret`() {
        let token = token(lives: 60)
        for text in ["\(token)", String(reflecting: token)] {
            #expect(!text.contains("\"at\"") && !text.contains("rt"))
        }
    }

    @Test func `the stored form distinguishes an issued token from a key`() throws {
        let now = Timestamp(secondsSince1970: 1_700_000_000)
        for token in [OAuthToken.key(Secret("abc"), now: now), .issued(Secret("abc"), now: now)] {
            let read = try #require(OAuthToken(encoded: token.encoded))
            #expect(read.isIssued == token.isIssued)
            #expect(read.accessToken.matches(token.accessToken))
        }
        // Tokens that earlier versions stored.
        let key = OAuthToken.key(Secret("abc"), now: now).encoded
        #expect(!key.withBytes { String(decoding: $0, as: UTF8.self) }.contains("issued"))
    }
}
