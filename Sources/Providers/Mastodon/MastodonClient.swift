internal import FoundationEssentials
internal import Logging
internal import ProviderKit
internal import Synchronization

/// Asks the API of a server, and tells what its answers say beside what was asked.
final class MastodonClient: Sendable {
    let settings: MastodonSettings
    let server: String
    let translation: ModelMapping
    private let base: WebAddress
    private let http: any HTTPClient
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let onRateLimit: @Sendable (RateLimit) -> Void
    private let rateLimit = Mutex<RateLimit?>(nil)

    /// Forty statuses with all that they may bring along.
    private static let maximumBytes = 8 << 20

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(
        _ server: String, _ ports: SessionPorts, now: @escaping @Sendable () -> Timestamp,
        onRateLimit: @escaping @Sendable (RateLimit) -> Void = { _ in }
    ) throws(ProviderError) {
        settings = try MastodonSettings(ports.settings)
        base = try settings.base(server)
        self.server = server
        translation = ModelMapping(
            allowsLoopback: base.isLoopback, showsSensitive: settings.showsSensitive)
        http = ports.http
        logger = ports.logger
        self.now = now
        self.onRateLimit = onRateLimit
    }

    /// Asks for something.
    ///
    /// - Parameters:
    ///   - method: How.
    ///   - path: The segments of the path below `/api/v1`, not yet escaped.
    ///   - query: The parameters, not yet escaped.
    ///   - subject: What errors speak of.
    /// - Returns: An answer whose status is 2xx.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        let segments = ["api", "v1"] + path.map(URLEncoding.escape)
        let url = ([base.text] + segments).joined(separator: "/")
        var request = HTTPRequest(method, URLEncoding.adding(query, to: url))
        // Without it, Pixelfed sends to a page.
        request.headers.append("Accept", "application/json")
        request.maximumBytes = Self.maximumBytes
        let response = try await http.send(request)
        report(response.headers)
        let refusal = Refusal(response: response, subject: subject, server: server, now: now())
        guard let error = refusal.error else { return response }
        if response.status == 403, subject != .user, !response.isPage { try await checkToken() }
        throw error
    }

    /// Checks if the server still accepts the token. Pleroma and Akkoma refuse what a withdrawn token asks for in the
    /// same way as what a user may not do.
    ///
    /// - Throws: ``ProviderError/unauthorized`` if it does not, `CancellationError`.
    private func checkToken() async throws {
        do {
            _ = try await me()
        } catch ProviderError.unauthorized {
            throw ProviderError.unauthorized
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Says nothing about the token.
        }
    }

    /// Reads an answer.
    ///
    /// - Throws: ``ProviderError/failed(_:)`` for one that is not what it should be.
    func decode<Value: Decodable>(_ type: Value.Type, _ response: HTTPResponse) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(response.body))
        } catch {
            logger.debug(
                "An answer cannot be read",
                metadata: ["status": "\(response.status)", "bytes": "\(response.body.count)"])
            throw Refusal.nonsense("something else than was asked for", server)
        }
    }

    /// The person who has logged in.
    func me() async throws -> Profile {
        let response = try await send(.get, ["accounts", "verify_credentials"], about: .user)
        let record = try decode(AccountRecord.self, response)
        guard let profile = translation.profile(record) else {
            throw Refusal.nonsense("a user without a name", server)
        }
        return profile
    }

    /// Fetches the dialect of the server. Not cached.
    func dialect() async throws -> Dialect {
        try await Discovery(settings: settings, http: http, now: now()).dialect(server)
    }

    private func report(_ headers: HTTPHeaders) {
        guard let limit = RateLimitHeaders(headers, now: now())?.limit else { return }
        let isNew = rateLimit.withLock { known in
            defer { known = limit }
            return known != limit
        }
        if isNew { onRateLimit(limit) }
    }
}
