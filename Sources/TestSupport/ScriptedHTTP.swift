package import ProviderKit

/// A network on which nobody answers but as the test says.
package final class ScriptedHTTP: HTTPClient {
    package typealias Answer = @Sendable (HTTPRequest) throws -> HTTPResponse

    package let requests = Observed<[HTTPRequest]>([])
    package let answer = Observed<Answer>({ _ in throw HTTPError.unreachable("no network") })

    package init() {}

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.append(request)
        return try answer.value(request)
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await send(request)
    }
}
