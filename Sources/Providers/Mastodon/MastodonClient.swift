internal import ProviderKit
internal import Translation
internal import WebService

/// A client for the API of one server, which also reports the server's rate limit.
final class MastodonClient: ServiceClient {
    let settings: MastodonSettings
    let service: ServiceDescription
    let mapping: ModelMapping
    private let base: WebAddress
    let ports: SessionPorts
    private let rateLimit: RateLimitReporter

    /// The maximum size of a response, enough for forty statuses with all attachments.
    private static let maximumBytes = 8 << 20

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(
        _ server: String, _ ports: SessionPorts,
        events: AsyncStream<SessionEvent>.Continuation? = nil
    ) throws(ProviderError) {
        settings = try MastodonSettings(ports.settings)
        base = try settings.base(server)
        service = ServiceDescription(server)
        mapping = ModelMapping(
            allowsLoopback: base.isLoopback, showsSensitive: settings.showsSensitive,
            omissions: OmittedImages(server, ports.logger, events))
        self.ports = ports
        rateLimit = RateLimitReporter(events)
    }

    /// Sends a request to the API.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The segments of the path below `/api/v1`, not yet escaped.
    ///   - query: The parameters, not yet escaped.
    ///   - subject: The requested item, for error messages.
    /// - Returns: A response with status 2xx.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        let segments = ["api", "v1"] + path.map(URLEncoding.escape)
        let url = ([base.text] + segments).joined(separator: "/")
        var request = HTTPRequest(method, URLEncoding.adding(query, to: url))
        // Without this field, Pixelfed redirects to a page.
        request.headers.append("Accept", "application/json")
        request.maximumBytes = Self.maximumBytes
        let response = try await ports.http.send(request)
        rateLimit.report(RateLimit(response.headers, now: ports.now()))
        guard let error = refusal(response, subject).error else { return response }
        if response.status == 403, subject != .user, !response.isHTML { try await checkToken() }
        throw error
    }

    /// Checks if the server still accepts the token. Pleroma and Akkoma send the same response for a revoked token as
    /// for an action that the user may not perform.
    ///
    /// - Throws: ``ProviderError/unauthorized`` if it does not, `CancellationError`.
    private func checkToken() async throws {
        do {
            _ = try await profile()
        } catch let error
            where error is CancellationError || error as? ProviderError == .unauthorized
        {
            throw error
        } catch {
            // Other errors do not concern the token.
        }
    }

    func profile() async throws -> Profile {
        let response = try await send(.get, ["accounts", "verify_credentials"], about: .user)
        guard let profile = mapping.profile(try decode(response)) else {
            throw service.invalidResponse(Message("a user without a name"))
        }
        return profile
    }

    /// Fetches the dialect of the server. Not cached.
    func dialect() async throws -> Dialect {
        try await Discovery(settings: settings, http: ports.http, now: ports.now())
            .dialect(service.name)
    }
}
