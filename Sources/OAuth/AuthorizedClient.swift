package import ProviderKit
internal import Translation

/// An HTTP client that sends the token of an account to the service that issued it, and to no other host.
nonisolated package struct AuthorizedClient: HTTPClient {
    private let base: any HTTPClient
    private let tokens: any AccessTokens
    private let access: KeyDescription
    /// The origins whose requests carry the token: `https://api.example.org`.
    package let origins: Set<String>
    /// True if the service is on loopback, and may name addresses there.
    package let allowsLoopback: Bool

    /// - Parameters:
    ///   - base: Sends the requests.
    ///   - tokens: The source of tokens.
    ///   - access: The description of the requests that carry a token.
    package init(_ base: any HTTPClient, _ tokens: any AccessTokens, _ access: KeyDescription) {
        self.base = base
        self.tokens = tokens
        self.access = access
        let origins = access.keyOrigins.compactMap { WebAddress($0) }
        self.origins = access.keyField == nil ? [] : Set(origins.map(\.origin))
        allowsLoopback = access.namedOrigins.isEmpty && origins.contains { $0.isLoopback }
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await authorized(request) { request in
            let response = try await base.send(request)
            // A refused token, a rate limit or a missing photo at another server does not concern the service.
            if !response.isSuccess, !response.isHTML, Self.leftOrigin(response, request),
                request.token != nil
            {
                let host = WebAddress(response.url)?.host ?? "another server"
                throw HTTPError.failed(
                    Message(
                        "it redirects to {server}, which sent status {status}",
                        ["server": host, "status": "\(response.status)"]))
            }
            return response
        }
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await authorized(request) {
            try await base.download($0, into: file, progress: progress)
        }
    }

    /// Sends a request, with the token if its origin may receive the token. If the token is refused, renews it and
    /// sends the request once more.
    private func authorized(
        _ request: HTTPRequest, _ sendOnce: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let response: HTTPResponse
            do {
                response = try await sendOnce(request)
            } catch let error as HTTPError
                where RepeatedSecrets(Self.secrets(of: request), inParts: true)
                .occur(in: "\(error)".utf8)
            {
                // It is in the name of a host to which the server redirects.
                throw ProviderError.otherLogin(Self.host(of: request))
            }
            if let origin = response.secureOrigin {
                throw HTTPError.invalidAddress(
                    Message(
                        "the server redirects to {address}, so log in with that address",
                        ["address": "\(origin)"]))
            }
            if isOfOtherLogin(response, request) {
                throw ProviderError.otherLogin(Self.host(of: request))
            }
            return response
        }
        var request = request
        request.allowsLoopback = allowsLoopback
        let address = WebAddress(request.url)
        if !access.namedOrigins.isEmpty {
            request.allowedHosts = AllowedHosts(patterns: [], origins: access.namedOrigins)
            // The service only repeats an origin that the user named.
            if let address, access.namedOrigins.contains(address.origin) {
                request.addressSource = .configuration
            }
        }
        guard let address, origins.contains(address.origin) else {
            return try await Self.withoutSecrets(await send(request), of: request)
        }
        // The time limit of the request includes the time in which the token is read or renewed.
        let start = ContinuousClock.now
        let limit = request.timeLimit
        func attempt(with token: OAuthToken) async throws -> HTTPResponse {
            let issuedField = token.isIssued ? access.tokenField : nil
            request.tokenField = issuedField ?? access.keyField ?? HTTPRequest.bearerField
            request.token = token.accessToken
            request.timeLimit = max(.seconds(1), limit - (ContinuousClock.now - start))
            return try await send(request)
        }
        let token = try await tokens.validToken()
        let response = try await attempt(with: token)
        guard isRefusal(response, request) else {
            return try await Self.withoutSecrets(response, of: request)
        }
        let renewed = try await tokens.renew(insteadOf: token.accessToken)
        let second = try await attempt(with: renewed)
        if isRefusal(second, request) { await tokens.refused(renewed.accessToken) }
        return try await Self.withoutSecrets(second, of: request)
    }

    private static func host(of request: HTTPRequest) -> String {
        WebAddress(request.url)?.host ?? "the service"
    }

    private static func secrets(of request: HTTPRequest) -> [Secret] {
        var secrets = request.bodySecrets
        if let token = request.token {
            secrets.append(token)
            if request.tokenField.hasSuffix("Basic ") { secrets += token.passwordOfBasic }
        }
        return secrets
    }

    /// Removes the secrets that a request contained from the text of its response, which can be large, off the main
    /// thread.
    ///
    /// - Throws: ``HTTPError/failed(_:)`` for a successful response that repeats them: its data cannot be used.
    @concurrent private static func withoutSecrets(
        _ response: HTTPResponse, of request: HTTPRequest
    ) async throws -> HTTPResponse {
        let secrets = secrets(of: request)
        guard response.isSuccess else { return response.withholding(secrets) }
        guard !RepeatedSecrets(secrets, inParts: false).occur(in: response.body) else {
            throw HTTPError.failed(Message("the response repeats the key of the account"))
        }
        return response
    }

    /// Returns true if a response comes from another origin than that of the request, which alone receives the token.
    private static func leftOrigin(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        response.leftOrigin
            || WebAddress(response.url)?.origin != WebAddress(request.url)?.origin
    }

    /// Returns true if the response is the page of a gateway before the service, or the redirect to it. It says nothing
    /// about the token.
    private func isOfOtherLogin(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        guard request.token != nil || !access.namedOrigins.isEmpty,
            !isRefusal(response, request, onlyByField: true)
        else { return false }
        return response.leadsAway
            || response.isHTML && (response.status == 401 || Self.leftOrigin(response, request))
    }

    private func isRefusal(
        _ response: HTTPResponse, _ request: HTTPRequest, onlyByField: Bool = false
    ) -> Bool {
        guard !Self.leftOrigin(response, request) else { return false }
        return access.refusals.contains { refusal in
            guard response.status == refusal.status, !onlyByField || refusal.field != nil else {
                return false
            }
            if let path = refusal.path {
                let requested = WebAddress(request.url)?.rest.prefix { $0 != "?" && $0 != "#" }
                guard requested == path[...], !response.isHTML else { return false }
            }
            guard let text = refusal.text else { return true }
            if let field = refusal.field { return response.headers[field]?.contains(text) == true }
            let start = String(decoding: response.body.prefix(Self.searchedBytes), as: UTF8.self)
            return start.contains(text)
        }
    }

    /// The number of bytes of a body that are searched for the text of a refusal.
    private static let searchedBytes = 4096
}

extension Secret {
    /// The password in the credentials of Basic authentication; none in another text.
    ///
    /// Source: RFC 7617 §2.
    nonisolated fileprivate var passwordOfBasic: [Secret] {
        guard var bytes = withText(Base64.decode) else { return [] }
        defer { bytes.wipe() }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        return [Secret(bytes[(colon + 1)...])]
    }
}

/// A source of access tokens.
nonisolated package protocol AccessTokens: Sendable {
    /// Returns the token, which is renewed first if it is about to expire.
    @MainActor func validToken() async throws -> OAuthToken

    /// Returns a token in place of one that the service has refused.
    ///
    /// - Throws: ``ProviderError/unauthorized`` if there is none: a new login is required.
    @MainActor func renew(insteadOf refused: Secret) async throws -> OAuthToken

    /// Records that the service refused a token that it has just issued.
    @MainActor func refused(_ token: Secret)
}

/// A token that is not renewed: that of a login in progress, or of a revocation.
nonisolated extension OAuthToken: AccessTokens {
    package func validToken() async throws -> OAuthToken { self }
    package func renew(insteadOf refused: Secret) async throws -> OAuthToken {
        throw ProviderError.unauthorized
    }
    package func refused(_ token: Secret) {}
}
