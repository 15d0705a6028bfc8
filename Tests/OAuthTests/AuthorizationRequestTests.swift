import ProviderKit
import TestSupport
import Testing

@testable import OAuth

struct AuthorizationRequestTests {
    // RFC 7636 appendix B.
    @Test func `the challenge is the hash of the verifier`() {
        let bytes: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37,
            77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        var generator = ReplayingGenerator(bytes)
        let verifier = makeNonce(byteCount: 32, using: &generator)
        #expect(verifier.text == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(verifier.codeChallenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `the authorization address contains the escaped parameters after its own`() {
        var description = OAuthDescription.sample
        description.authorizationURL += "?lang=de#top"
        var generator = CountingGenerator()
        var request = AuthorizationRequest(description, clientID: "a b&c", using: &generator)
        #expect(
            request.url == """
                https://photos.example/oauth/authorize?lang=de&response_type=code\
                &client_id=a%20b%26c&redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob\
                &scope=public%20write_likes&state=AQAAAAAAAAACAAAAAAAAAA#top
                """)
        #expect(request.verifier == nil)
        description.usesPKCE = true
        description.scopes = []
        request = AuthorizationRequest(description, clientID: "app", using: &generator)
        #expect(!request.url.contains("scope="))
        #expect(request.url.contains("&code_challenge_method=S256#top"))
        #expect(request.url.contains("&code_challenge=\(request.verifier?.codeChallenge ?? "?")&"))
        #expect(!request.url.contains(request.verifier?.text ?? "?"))
    }

    @Test func `each request has a new state, and no description contains it`() {
        var generator = SeededRandom(seed: Simulation.seed)
        let requests = (0..<100).map { _ in
            AuthorizationRequest(.sample, clientID: "app", using: &generator)
        }
        let states = requests.map { $0.state.text }
        #expect(Set(states).count == 100)
        #expect(states.allSatisfy { $0.utf8.count == 22 })
        #expect(!"\(requests[0])".contains(states[0]))
    }
}

/// A generator of fixed bytes.
private struct ReplayingGenerator: RandomNumberGenerator {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func next() -> UInt64 {
        defer { bytes = bytes.dropFirst(8) }
        return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
