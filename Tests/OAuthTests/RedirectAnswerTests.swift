import ProviderKit
import TestSupport
import Testing

@testable import OAuth

struct RedirectAnswerTests {
    private let state = Secret("right")

    private func answer(
        _ pasted: String, issuer: String? = nil, namesIssuer: Bool = false
    ) throws -> RedirectAnswer {
        var service = OAuthDescription.sample
        service.issuer = issuer
        service.namesIssuer = namesIssuer
        return try RedirectAnswer(
            pasted: pasted, state: state, redirectAddress: "http://127.0.0.1:4711/callback",
            from: service)
    }

    @Test(arguments: [
        ("weird", "secret s3cr3t-key"), ("s3cr3t-key", "no"), ("server_error", "s3cr3t- key"),
    ])
    func `an error that repeats a secret has no text`(code: String, text: String) {
        let error = OAuthError(code: code, text: text)
        #expect("\(error.withholding([Secret("s3cr3t-key")]))".contains("repeats the key"))
        #expect(error.withholding([Secret("another key")]) == error)
    }

    @Test(arguments: [
        "abc-_.~/+=", "  abc-_.~/+=\n", "\u{a0}abc-_.~/+=\t",
        "https://unsplash.com/oauth/authorize/native?code=abc-_.~%2F%2B%3D",
        " https://mastodon.example/oauth/authorize/native?code=abc-_.~%2f%2b%3d#_=_ \r\n",
        "http://127.0.0.1:4711/callback?state=right&code=abc-_.~%2F%2B%3D",
        "?code=abc-_.~%2F%2B%3D&state=right", "code=abc-_.~%2F%2B%3D&state=right",
    ])
    func `a code is found in pasted text`(text: String) throws {
        #expect(try answer(text).codeText == "abc-_.~/+=")
    }

    @Test(arguments: [
        ("The code is empty; copy it again.", ["", " \n\t"]),
        ("The code contains invalid characters; copy it again.", ["a b", "a\nb", "käse", "a\0b"]),
        (
            "The code is longer than 16 KiB; copy it again.",
            [String(repeating: "a", count: 17 << 10)]
        ),
        ("The address is malformed; copy it again.", ["?code=a&code=b", "?code=%zz"].map(address)),
        (
            "The address belongs to another login; log in again.",
            ["?code=a&state=wrong", "?error=access_denied&state=wrong", "?code=a&state="]
                .map(address) + [
                    "http://127.0.0.1:4711/callback?code=a",
                    "http://127.0.0.1:4711/callback?error=access_denied",
                ]
        ),
        (
            "The address contains no code; copy the last address in the browser.",
            ["?state=right", "?code=", "?code=a%20b", "", "#code=a"].map(address) + ["?"]
        ),
    ])
    func `other text is refused with a reason`(reason: String, texts: [String]) {
        for text in texts {
            #expect(throws: OAuthError.invalidCode(reason), "\(text)") { _ = try answer(text) }
        }
    }

    private static func address(_ rest: String) -> String { "https://photos.example/\(rest)" }

    @Test(arguments: [
        ("error=access_denied", OAuthError.denied),
        ("error=server_error", .serviceFailed("server_error")),
        (
            "error=invalid_scope&error_description=Not%20that+one",
            .refused("invalid_scope: Not that one")
        ),
        ("error=x&error_description=%0A%1b[1m%E2%80%AEab%0a", .refused("x: [1mab")),
    ])
    func `errors are distinguished`(query: String, error: OAuthError) throws {
        #expect(try answer("https://photos.example/?\(query)").error == error)
    }

    @Test func `the issuer is compared if both sides name one`() throws {
        let address = "https://photos.example/?code=a&iss=https%3A%2F%2Fphotos.example"
        for issuer in [nil, "https://photos.example"] {
            #expect(try answer(address, issuer: issuer).codeText != nil)
        }
        #expect(try answer("code=a", issuer: "https://photos.example").codeText != nil)
        #expect(try answer(address, issuer: "https://photos.example/").error != nil)
    }

    @Test(arguments: [
        "https://evil.example", "https://photos.example:8443", "http://photos.example", "", "x",
    ])
    func `a wrong issuer is refused without metadata`(issuer: String) throws {
        let address = "https://photos.example/?code=a&iss=\(URLEncoding.escape(issuer))"
        #expect(try answer(address).error != nil)
    }

    @Test func `a missing issuer is refused if the service announces it`() throws {
        let address = "https://photos.example/?code=a"
        #expect(try answer(address, issuer: "https://photos.example").codeText == "a")
        for issuer in [nil, "https://photos.example"] {
            #expect(try answer(address, issuer: issuer, namesIssuer: true).error != nil)
        }
        // A page that shows the code shows no issuer.
        #expect(try answer("a", namesIssuer: true).codeText == "a")
    }

    @Test func `untrusted text becomes one short line`() {
        #expect(plain("  a\r\n\tb\u{0}c  \u{2028}") == "a b c")
        #expect(plain("\u{202e}\u{200b}\u{feff}ok") == "ok")
        #expect(plain(String(repeating: "ä", count: 1000)).count == 200)
        #expect(plain(String(repeating: "e\u{301}", count: 200)).count == 200)
        #expect(
            plain("a" + String(repeating: "\u{301}", count: 100_000)).unicodeScalars.count < 1000)
    }
}

extension RedirectAnswer {
    fileprivate var codeText: String? {
        if case .success(let code) = self { code.text } else { nil }
    }

    fileprivate var error: OAuthError? { if case .failure(let error) = self { error } else { nil } }
}
