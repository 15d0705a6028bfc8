import OAuth
import ProviderKit
import Synchronization
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

/// A service that sends responses from a list and records the requests.
final class ScriptedHTTPClient: HTTPClient {
    private let script: Mutex<[Result<HTTPResponse, any Error>]>
    let requests = Observed<[(url: String, body: String)]>()

    init(_ script: [Result<HTTPResponse, any Error>]) { self.script = Mutex(script) }

    convenience init(_ status: Int, _ body: String, _ headers: HTTPHeaders = [:]) {
        self.init([.success(.sample(status, body, headers))])
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.append((request.url, String(decoding: request.body, as: UTF8.self)))
        guard let next = script.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw HTTPError.unreachable("the script has ended")
        }
        return try next.get()
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        throw HTTPError.failed("nothing is downloaded here")
    }
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
