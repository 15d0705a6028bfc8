internal import FoundationEssentials
internal import Logging
internal import ProviderKit
internal import Synchronization

/// Asks the API, and tells what its answers say beside what was asked.
final class UnsplashClient: Sendable {
    let settings: UnsplashSettings
    let translation: ModelMapping
    private let http: any HTTPClient
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let onRateLimit: @Sendable (RateLimit) -> Void
    private let told = Mutex(Told())

    /// What need not be told twice.
    private struct Told {
        var rateLimit: RateLimit?
        var warnings: Set<String> = []
    }

    /// How many warnings are kept, lest a service that puts the time into them fills the memory.
    private static let maximumWarnings = 64
    /// The largest answers seen have 75 kB.
    private static let maximumBytes = 4 << 20

    init(
        _ ports: SessionPorts, _ settings: UnsplashSettings,
        now: @escaping @Sendable () -> Timestamp,
        onRateLimit: @escaping @Sendable (RateLimit) -> Void = { _ in }
    ) {
        self.settings = settings
        translation = ModelMapping(settings: settings)
        http = ports.http
        logger = ports.logger
        self.now = now
        self.onRateLimit = onRateLimit
    }

    /// Asks for something.
    ///
    /// - Parameters:
    ///   - method: How.
    ///   - path: The segments of the path, not yet escaped.
    ///   - query: The parameters, not yet escaped.
    ///   - subject: What errors speak of.
    /// - Returns: An answer whose status is 2xx.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        let path = ([settings.api.text] + path.map(URLEncoding.escape)).joined(separator: "/")
        return try await send(method, url: URLEncoding.adding(query, to: path), about: subject)
    }

    /// Asks for an address of the API.
    func send(
        _ method: HTTPRequest.Method, url: String, about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, url)
        request.headers.append("Accept-Version", "v1")
        request.maximumBytes = Self.maximumBytes
        let response = try await http.send(request)
        report(response.headers)
        if let error = Refusal(response: response, subject: subject, now: now()).error {
            throw error
        }
        return response
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
            throw Refusal.nonsense("something else than was asked for")
        }
    }

    /// The person who has logged in.
    func me() async throws -> Profile {
        let record = try decode(UserRecord.self, try await send(.get, ["me"], about: .user))
        guard let profile = translation.profile(record) else {
            throw Refusal.nonsense("a user without a name")
        }
        return profile
    }

    // MARK: What answers say beside

    private func report(_ headers: HTTPHeaders) {
        for text in headers.all("Warning").compactMap({ ServiceText.line($0) }) {
            let isNew = told.withLock { told in
                told.warnings.count < Self.maximumWarnings
                    && told.warnings.insert(text).inserted
            }
            if isNew { logger.warning("Unsplash warns", metadata: ["text": "\(text)"]) }
        }
        guard let limit = RateLimit(headers) else { return }
        let isNew = told.withLock { told in
            defer { told.rateLimit = limit }
            return told.rateLimit != limit
        }
        if isNew { onRateLimit(limit) }
    }
}
