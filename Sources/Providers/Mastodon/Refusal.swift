internal import ProviderKit
internal import Quoting

/// Translates a response with an error status to a ``ProviderError``.
///
/// The status determines the error. Error texts are translated to the user's language, so they are only quoted, with
/// the exception of `lacksPermission`.
struct Refusal {
    /// The item that was requested.
    enum Subject: Hashable, Sendable {
        case photo(PhotoID)
        case source(SourceID)
        case like(PhotoID)
        case user
        /// The instance document of the server.
        case server
    }

    let response: HTTPResponse
    let subject: Subject
    /// The name of the server for messages.
    let server: String
    let now: Timestamp

    /// The error; nil for a success.
    var error: ProviderError? {
        switch response.status {
        case 200..<300: nil
        case 401: .unauthorized
        // Takahē.
        case 400 where startsWith("Invalid Bearer token"): .unauthorized
        // Pixelfed, in 2025.
        case 500 where text?.hasPrefix("Unauthenticated") == true: .unauthorized
        case 429: rateLimitError
        case 403: forbiddenError
        case 404, 410: notFoundError
        case 400, 422: rejectionError
        case 500...:
            .failed("\(server) failed with status \(response.status); try again later.")
        default: invalidResponse("status \(response.status)")
        }
    }

    /// Returns the error for a response that violates the API.
    func invalidResponse(_ reason: String) -> ProviderError { Self.invalidResponse(reason, server) }

    static func invalidResponse(_ reason: String, _ server: String) -> ProviderError {
        .failed("\(server) sent an invalid response (\(reason)); try again later.")
    }

    private var rateLimitError: ProviderError {
        let reset = RateLimitHeaders(response.headers, now: now)?.reset
        // Without rate limit fields, this is the daily limit of likes of Pixelfed, which does not affect other
        // requests.
        if case .like = subject, reset == nil, response.headers["Retry-After"] == nil {
            return .failed("\(server) accepts no more likes for now; they are sent later.")
        }
        return .rateLimited(
            until: response.retryAfter(now: now).map { now + min($0, .seconds(86_400)) } ?? reset)
    }

    private var forbiddenError: ProviderError {
        guard !response.isHTML else { return invalidResponse("an HTML page") }
        // This request depends only on the token.
        if case .user = subject { return .unauthorized }
        // Any other reason concerns only this photo: the login requested the permission to like.
        if case .like = subject, !lacksPermission {
            return .refused("\(server) does not let this account like this photo\(quoted).")
        }
        return .denied("\(server) does not allow this account to \(action)\(quoted).")
    }

    /// True if the token lacks a scope. Unlike other error texts, these texts are not translated.
    ///
    /// Source: `doorkeeper_forbidden_render_options` of Mastodon; `OAuthScopesPlug` of Pleroma; `scope_required` of
    /// Takahē.
    private var lacksPermission: Bool {
        guard let text else { return false }
        return text == "This action is outside the authorized scopes"
            || text.hasPrefix("Insufficient permissions") || text == "out_of_scope_for_token"
    }

    private var notFoundError: ProviderError {
        switch subject {
        // The body can be HTML: snac 2.75 sends the same page for every missing item (`httpd_connection`).
        case .photo(let id), .like(let id):
            .notFound("There is no photo \(id.text.quoted) at \(server).")
        case .source(let id): .notFound("There is no source \(id.text.quoted) at \(server).")
        case _ where response.isHTML: invalidResponse("an HTML page")
        case .user: .notFound("\(server) has no user for this login; log in again.")
        case .server: .notFound("\(server) has no server description.")
        }
    }

    private var rejectionError: ProviderError {
        guard !response.isHTML else { return invalidResponse("an HTML page") }
        return switch subject {
        case .source(let id):
            .invalidArgument("\(server) does not accept the source \(id.text.quoted)\(quoted).")
        case .like: .refused("\(server) does not accept a like of this photo\(quoted).")
        default: .failed("\(server) rejected the request to \(action)\(quoted).")
        }
    }

    private var action: String {
        switch subject {
        case .photo: "view a photo"
        case .source: "view these photos"
        case .like: "like photos"
        case .user: "read the user profile"
        case .server: "read the server description"
        }
    }

    private var quoted: String { ServiceText.parenthesized(text) }

    private func startsWith(_ text: String) -> Bool { response.body.starts(with: text.utf8) }

    private var text: String? {
        response.decodeJSON(Message.self)?.text
    }

    private struct Message: Decodable {
        let text: String?

        private enum Key: String, CodingKey {
            case error, message
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            text = values.lenient(.error) ?? values.lenient(.message)
        }
    }
}

/// The remaining requests and the time of the reset.
///
/// Source: docs.joinmastodon.org/api/rate-limits. The time is ISO 8601, in the clock of the server.
struct RateLimitHeaders {
    let limit: RateLimit
    var reset: Timestamp? { limit.reset }

    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard var rate = RateLimit(headers) else { return nil }
        if let reset = headers["X-RateLimit-Reset"].flatMap({ Timestamp(rfc3339: $0) }) {
            // Converts to the local clock if the clocks differ, and rounds up the dropped fraction.
            let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? now
            let (ahead, overflows) = now.secondsSince1970
                .subtractingReportingOverflow(date.secondsSince1970)
            let isApart = !overflows && 10..<86_400 ~= abs(ahead)
            rate.reset = reset + .seconds(1 + (isApart ? ahead : 0))
        }
        self.limit = rate
    }
}
