import OAuth
import ProviderKit
import TestSupport

/// A generator with the same numbers in every run.
struct CountingGenerator: RandomNumberGenerator {
    var value: UInt64 = 0

    mutating func next() -> UInt64 {
        value += 1
        return value
    }
}

extension OAuthDescription {
    static let sample = OAuthDescription(
        authorizationURL: "https://photos.example/oauth/authorize",
        tokenURL: "https://photos.example/oauth/token", scopes: ["public", "write_likes"],
        tokenOrigins: ["https://api.photos.example"])

    /// Returns the sample with a change.
    static func sample(_ change: (inout OAuthDescription) -> Void) -> OAuthDescription {
        var description = sample
        change(&description)
        return description
    }
}

/// Tokens of an account that can be renewed, or not. They record the calls.
final class FakeTokens: AccessTokens {
    nonisolated let events = Observed<[String]>()
    private let renewed: OAuthToken?

    init(renewed: OAuthToken? = nil) { self.renewed = renewed }

    func validToken() async throws -> OAuthToken { .key(Secret("first"), now: .now) }

    func renew(insteadOf refused: Secret) async throws -> OAuthToken {
        events.append("renew")
        guard let renewed else { throw ProviderError.unauthorized }
        return renewed
    }

    func refused(_ token: Secret) { events.append("refused") }
}

extension ScriptedHTTP {
    /// Creates a service that sends responses from a list, in order.
    convenience init(_ script: [HTTPResponse]) {
        let rest = Observed(script[...])
        self.init { _ in
            guard let next = rest.value.first else { throw HTTPError.unreachable("no route") }
            rest.update { $0 = $0.dropFirst() }
            return next
        }
    }

    convenience init(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) {
        self.init([.sample(status, body, headers)])
    }
}

extension HTTPRequest {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension HTTPResponse {
    static func sample(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse
    {
        HTTPResponse(
            status: status, headers: headers, body: Array(body.utf8),
            url: "https://photos.example/oauth/token")
    }
}

extension Secret {
    var text: String { withText { $0 } }
}
