package import ProviderKit

/// An HTTP client that sends each request with a token.
package struct AuthorizedHTTP: HTTPClient {
    private let base: any HTTPClient
    private let token: Secret
    private let field: String

    /// - Parameters:
    ///   - base: Sends the requests.
    ///   - token: The token.
    ///   - field: The text before the token in the header.
    package init(_ base: any HTTPClient, token: Secret, field: String) {
        self.base = base
        self.token = token
        self.field = field
    }

    private func authorized(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.token = token
        request.tokenField = field
        return request
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await base.send(authorized(request))
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await base.download(authorized(request), into: file, progress: progress)
    }
}
