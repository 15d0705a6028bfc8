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
}

extension ScriptedHTTP {
    /// Creates a service that sends responses from a list, in order.
    convenience init(_ script: [Result<HTTPResponse, any Error>]) {
        let rest = Observed(script[...])
        self.init { _ in
            guard let next = rest.value.first else {
                throw HTTPError.unreachable("the script has ended")
            }
            rest.update { $0 = $0.dropFirst() }
            return try next.get()
        }
    }

    convenience init(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) {
        self.init([.success(.sample(status, body, headers))])
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
