internal import ProviderKit

/// An HTTP client that carries an account's token to the service that gave it, and to nobody else.
nonisolated struct AuthorizedClient: HTTPClient {
    let base: any HTTPClient
    let tokens: any AccessTokens
    /// The origins whose requests carry the token: `https://api.example.org`.
    let origins: Set<String>
    /// The answers that refuse a token.
    let refusals: [TokenRefusal]
    /// Whether the service itself lies on loopback, and may name addresses there.
    let allowsLoopback: Bool
    /// Where the token stands in a request.
    private let tokenField: String

    /// - Parameters:
    ///   - base: Asks.
    ///   - tokens: Where tokens come from.
    ///   - description: Of the service; nil where nobody is to be shown a token.
    init(_ base: any HTTPClient, _ tokens: any AccessTokens, _ description: OAuthDescription?) {
        self.base = base
        self.tokens = tokens
        let origins = (description?.tokenOrigins ?? []).compactMap(WebAddress.init)
        self.origins = Set(origins.map(\.origin))
        allowsLoopback = origins.contains { $0.isLoopback }
        refusals = description?.tokenRefusals ?? []
        tokenField = HTTPRequest.bearerField
    }

    /// - Parameters:
    ///   - base: Asks.
    ///   - tokens: Where the key comes from.
    ///   - description: Of the service that gave it.
    init(_ base: any HTTPClient, _ tokens: any AccessTokens, _ description: KeyDescription) {
        self.base = base
        self.tokens = tokens
        let field = description.keyField
        let origins = field == nil ? [] : description.keyOrigins.compactMap(WebAddress.init)
        self.origins = Set(origins.map(\.origin))
        allowsLoopback = origins.contains { $0.isLoopback }
        refusals = [TokenRefusal(status: 401)]
        tokenField = field ?? HTTPRequest.bearerField
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await authorized(request) { request in
            var response = try await base.send(request)
            response.sentSecret = request.token
            // A refusal of the token, a rate limit or a missing photo there is none at the service.
            if !response.isSuccess, Self.leftOrigin(response, request), request.token != nil {
                let host = WebAddress(response.url)?.host ?? "another server"
                throw HTTPError.failed(
                    "it redirects to \(host), which sent status \(response.status)")
            }
            return response
        }
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await authorized(request) {
            try await base.download($0, into: file, progress: progress)
        }
    }

    /// Asks with the token where it belongs; once more with a new one if it is refused.
    private func authorized(
        _ request: HTTPRequest, _ ask: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var request = request
        request.allowsLoopback = allowsLoopback
        guard let address = WebAddress(request.url), origins.contains(address.origin) else {
            return try await ask(request)
        }
        // The time that a token takes is part of the time limit of the request.
        let start = ContinuousClock.now
        let limit = request.timeLimit
        func shorten(_ request: inout HTTPRequest) {
            request.timeLimit = max(.seconds(1), limit - (ContinuousClock.now - start))
        }
        let token = try await tokens.accessToken()
        request.tokenField = tokenField
        request.token = token
        shorten(&request)
        let response = try await ask(request)
        guard isRefusal(response, request) else { return response }
        let renewed = try await tokens.renew(insteadOf: token)
        request.token = renewed
        shorten(&request)
        let second = try await ask(request)
        if isRefusal(second, request) { await tokens.refused(renewed) }
        return second
    }

    /// Returns true if a response comes from another origin than that of the request, which alone receives the token.
    private static func leftOrigin(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        response.leftOrigin
            || WebAddress(response.url)?.origin != WebAddress(request.url)?.origin
    }

    private func isRefusal(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        guard !Self.leftOrigin(response, request) else { return false }
        return refusals.contains { refusal in
            guard response.status == refusal.status else { return false }
            if let path = refusal.path {
                let requested = WebAddress(request.url)?.rest.prefix { $0 != "?" && $0 != "#" }
                guard requested == path[...], !response.isPage else { return false }
            }
            guard let text = refusal.text else { return true }
            let start = String(decoding: response.body.prefix(Self.lookedAt), as: UTF8.self)
            return start.contains(text)
        }
    }

    /// How much of a body is looked at for what tells a refusal, in bytes.
    private static let lookedAt = 4096
}

/// Where access tokens come from.
nonisolated protocol AccessTokens: Sendable {
    /// The token, renewed if it is about to expire.
    @MainActor func accessToken() async throws -> Secret

    /// A token in the place of one that the service has just refused.
    ///
    /// - Throws: ``ProviderError/unauthorized`` when there is none: somebody has to log in again.
    @MainActor func renew(insteadOf refused: Secret) async throws -> Secret

    /// Takes note that the service refuses a token that it has just given.
    @MainActor func refused(_ token: Secret)
}

/// The token of a login that has not become an account yet.
nonisolated struct FixedToken: AccessTokens {
    let token: Secret

    func accessToken() async throws -> Secret { token }
    func renew(insteadOf refused: Secret) async throws -> Secret {
        throw ProviderError.unauthorized
    }
    func refused(_ token: Secret) {}
}
