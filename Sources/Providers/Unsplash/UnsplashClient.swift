internal import Logging
internal import ProviderKit
internal import Synchronization
internal import Translation
internal import WebService

/// A client for the API, which also reports warnings and the rate limit.
final class UnsplashClient: ServiceClient {
    let service = ServiceDescription.unsplash
    let ports: SessionPorts
    let settings: UnsplashSettings
    let mapping: ModelMapping
    private let rateLimit: RateLimitReporter
    /// The warnings that have been logged and are not repeated.
    private let loggedWarnings = Mutex<Set<String>>([])

    /// The number of stored warnings; bounded, because a service may put the time into each warning.
    private static let maximumWarnings = 64
    /// The maximum size of a response; the largest responses seen have 75 kB.
    private static let maximumBytes = 4 << 20

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(
        _ ports: SessionPorts, events: AsyncStream<SessionEvent>.Continuation? = nil
    ) throws(ProviderError) {
        self.ports = ports
        settings = try UnsplashSettings(ports.settings)
        mapping = ModelMapping(settings: settings)
        rateLimit = RateLimitReporter(events)
    }

    /// Sends a request to the API.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The segments of the path, not yet escaped.
    ///   - query: The parameters, not yet escaped.
    ///   - subject: The requested item, for error messages.
    /// - Returns: A response with status 2xx.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        let path = ([settings.api.text] + path.map(URLEncoding.escape)).joined(separator: "/")
        return try await send(method, url: URLEncoding.adding(query, to: path), about: subject)
    }

    /// Sends a request to an address of the API.
    func send(
        _ method: HTTPRequest.Method, url: String, about subject: Refusal.Subject
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, url)
        request.headers.append("Accept-Version", "v1")
        request.maximumBytes = Self.maximumBytes
        let response = try await ports.http.send(request)
        reportHeaders(response.headers)
        if let error = refusal(response, subject).error { throw error }
        return response
    }

    func profile() async throws -> Profile {
        let user: ServiceRecord = try decode(try await send(.get, ["me"], about: .user))
        guard let profile = mapping.profile(user) else {
            throw service.invalidResponse(Message("a user without a name"))
        }
        return profile
    }

    // MARK: Response headers

    private func reportHeaders(_ headers: HTTPHeaders) {
        for text in headers.all("Warning").compactMap({ ServiceText.line($0) }) {
            let isNew = loggedWarnings.withLock { logged in
                logged.count < Self.maximumWarnings && logged.insert(text).inserted
            }
            guard isNew else { continue }
            ports.logger.warning("Unsplash sent a warning", metadata: ["text": "\(text)"])
        }
        rateLimit.report(RateLimit(headers))
    }
}
