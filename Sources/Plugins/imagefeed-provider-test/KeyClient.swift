internal import ProviderKit

/// An HTTP client that adds a key to the requests for the origins that receive it, as the daemon does for an account.
nonisolated struct KeyClient: HTTPClient {
    let base: any HTTPClient
    /// The key; nil if the account has none.
    let key: Secret?
    private let field: String
    private let origins: Set<String>
    private let allowsLoopback: Bool

    init(_ base: any HTTPClient, _ key: Secret?, _ description: KeyDescription) {
        self.base = base
        self.key = description.keyField == nil ? nil : key
        field = description.keyField ?? HTTPRequest.bearerField
        let addresses = description.keyOrigins.compactMap { WebAddress($0) }
        origins = Set(addresses.map(\.origin))
        allowsLoopback = addresses.contains { $0.isLoopback }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = authorized(request)
        let response = try await base.send(request)
        if request.token != nil, response.status == 401, !response.leftOrigin {
            throw ProviderError.unauthorized
        }
        return response
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await base.download(authorized(request), into: file, progress: progress)
    }

    private func authorized(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.allowsLoopback = allowsLoopback
        if let key, let address = WebAddress(request.url), origins.contains(address.origin) {
            request.token = key
            request.tokenField = field
        }
        return request
    }
}
