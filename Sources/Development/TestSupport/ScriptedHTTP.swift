internal import Glibc
package import LoopbackHTTP
package import ProviderKit

/// A network on which nobody answers but as the test says.
package final class ScriptedHTTP: HTTPClient {
    package typealias Answer = @Sendable (HTTPRequest) throws -> HTTPResponse

    package let requests = Observed<[HTTPRequest]>([])
    /// Whether downloads that have begun come no further for now.
    package let isHeld = Observed(false)
    /// The ends of the addresses whose responses are held back.
    package let heldAddresses = Observed<Set<String>>([])
    package let answer = Observed<Answer>({ _ in throw HTTPError.unreachable("no network") })

    package init() {}

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.append(request)
        let response = try answer.value(request)
        try await heldAddresses.wait { held in
            held.contains { request.url.hasSuffix($0) } ? nil : true
        }
        return response
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        let response = try await send(request)
        guard response.isSuccess else { return response }
        let total = response.body.count
        progress(HTTPProgress(received: 0, total: total))
        try await isHeld.wait { $0 ? nil : true }
        guard write(file, response.body, total) == total else { throw HTTPError.cannotWrite(errno) }
        progress(HTTPProgress(received: total, total: total))
        return HTTPResponse(status: response.status, headers: response.headers, url: response.url)
    }
}
