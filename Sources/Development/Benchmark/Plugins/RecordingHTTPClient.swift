internal import LoopbackHTTP
internal import ProviderKit
internal import Synchronization
internal import Translation

/// An HTTP client that sends one request to each address, and returns the stored response for later requests.
nonisolated final class RecordingHTTPClient: HTTPClient {
    private let token: String
    private let responses = Mutex<[String: HTTPResponse]>([:])

    /// - Parameter token: The bearer token of every request.
    init(token: String = "") { self.token = token }

    /// Stores a response for an address, to which no request is sent then.
    func store(_ body: [UInt8], at url: String) {
        responses.withLock { $0[url] = HTTPResponse(status: 200, body: body, url: url) }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if let known = responses.withLock({ $0[request.url] }) { return known }
        let answer = try await LoopbackClient.send(
            request.method.rawValue, request.url,
            headers: request.headers.fields.map { ($0.name, $0.value) }
                + [("Authorization", "Bearer \(token)")])
        var headers = HTTPHeaders()
        for (name, value) in answer.headers { headers.append(name, value) }
        let response = HTTPResponse(
            status: answer.status, headers: headers, body: answer.body, url: request.url)
        responses.withLock { $0[request.url] = response }
        return response
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        throw HTTPError.failed(Message(verbatim: "nobody downloads here"))
    }
}
