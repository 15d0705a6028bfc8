internal import Glibc
package import LoopbackHTTP
package import ProviderKit

/// An HTTP client whose responses a test defines.
package final class ScriptedHTTP: HTTPClient {
    package typealias Answer = @Sendable (HTTPRequest) throws -> HTTPResponse

    package let requests = Observed<[HTTPRequest]>([])
    /// True if downloads wait after their first progress report.
    package let isHeld = Observed(false)
    /// The suffixes of the addresses whose responses are delayed until they are removed from this set.
    package let heldAddresses = Observed<Set<String>>([])
    package let answer: Observed<Answer>

    package init(_ answer: @escaping Answer = { _ in throw HTTPError.unreachable("no network") }) {
        self.answer = Observed(answer)
    }

    /// Answers every request with the same body.
    package func respond(_ body: [UInt8] = [], status: Int = 200) {
        answer.update { answer in
            answer = { HTTPResponse(status: status, body: body, url: $0.url) }
        }
    }

    /// The methods and addresses of the requests, without a common prefix. The method GET is omitted.
    package func requestLines(withoutPrefix prefix: String) -> [String] {
        requests.value.map { request in
            let address = request.url.replacing(prefix, with: "")
            return request.method == .get ? address : "\(request.method.rawValue) \(address)"
        }
    }

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

extension HTTPResponse {
    /// Creates a response with a body of JSON, or of any other text.
    package static func json(
        _ text: String, status: Int = 200, _ headers: HTTPHeaders = [:]
    ) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Array(text.utf8), url: "")
    }
}
