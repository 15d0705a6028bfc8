internal import FoundationEssentials
internal import ProviderKit
internal import Quoting

/// What an answer says that is no success, in terms of the engine.
///
/// The status decides. Texts are in the user's language, and are only repeated; the one exception is not translated.
struct Refusal {
    /// What was asked for.
    enum Subject: Hashable, Sendable {
        case photo(PhotoID)
        case source(SourceID)
        case like(PhotoID)
        case user
        /// The server's description of itself.
        case server
    }

    let response: HTTPResponse
    let subject: Subject
    /// What a person calls the server.
    let server: String
    let now: Timestamp

    /// nil for a success.
    var error: ProviderError? {
        switch response.status {
        case 200..<300: nil
        case 401: .unauthorized
        // Takahē.
        case 400 where startsWith("Invalid Bearer token"): .unauthorized
        // Pixelfed, in 2025.
        case 500 where text?.hasPrefix("Unauthenticated") == true: .unauthorized
        case 429: limited
        case 403: forbidden
        case 404, 410: gone
        case 400, 422: refused
        case 500...:
            .failed("\(server) has trouble (status \(response.status)); try again later.")
        default: nonsense("status \(response.status)")
        }
    }

    /// The server did not keep to the API.
    func nonsense(_ what: String) -> ProviderError { Self.nonsense(what, server) }

    static func nonsense(_ what: String, _ server: String) -> ProviderError {
        .failed("\(server) answered nonsense (\(what)); try again later.")
    }

    private var limited: ProviderError {
        let reset = RateLimitHeaders(response.headers, now: now)?.reset
        // Without numbers it is not the server that has enough, but its limit of likes for a day (Pixelfed):
        // all else goes on.
        if case .like = subject, reset == nil, response.headers["Retry-After"] == nil {
            return .failed("\(server) takes no more likes for now; they are sent later.")
        }
        return .rateLimited(
            until: response.retryAfter(now: now).map { now + min($0, .seconds(86_400)) } ?? reset)
    }

    private var forbidden: ProviderError {
        guard !response.isPage else { return nonsense("a refusal that is not its own") }
        // The request that only the token decides about.
        if case .user = subject { return .unauthorized }
        // Any other reason concerns this photo alone: the login has requested the permission to like.
        if case .like = subject, !lacksPermission {
            return .refused("\(server) does not let this account like this photo\(quoted).")
        }
        return .denied("\(server) does not allow this account to \(action)\(quoted).")
    }

    /// True if the token lacks a scope. Unlike others, these texts are not translated.
    ///
    /// Source: `doorkeeper_forbidden_render_options` of Mastodon; `OAuthScopesPlug` of Pleroma; `scope_required` of
    /// Takahē.
    private var lacksPermission: Bool {
        guard let text else { return false }
        return text == "This action is outside the authorized scopes"
            || text.hasPrefix("Insufficient permissions") || text == "out_of_scope_for_token"
    }

    private var gone: ProviderError {
        // A page for people comes from something else than the API: what is gone it cannot know.
        guard !response.isPage else { return nonsense("a page for people") }
        return switch subject {
        case .photo(let id), .like(let id):
            .notFound("There is no photo \(id.text.quoted) at \(server).")
        case .source(let id): .notFound("There is no source \(id.text.quoted) at \(server).")
        case .user: .notFound("\(server) does not know who has logged in.")
        case .server: .notFound("\(server) does not describe itself.")
        }
    }

    private var refused: ProviderError {
        guard !response.isPage else { return nonsense("a page for people") }
        return switch subject {
        case .source(let id):
            .invalidArgument("\(server) does not take the source \(id.text.quoted)\(quoted).")
        case .like: .refused("\(server) does not accept a like of this photo\(quoted).")
        default: .failed("\(server) refused to \(action)\(quoted).")
        }
    }

    private var action: String {
        switch subject {
        case .photo: "show a photo"
        case .source: "show these photos"
        case .like: "like photos"
        case .user: "tell who has logged in"
        case .server: "read the description of the server"
        }
    }

    /// What the server said, if it can be repeated: no address, since that may hold what is secret.
    private var quoted: String {
        guard let line = ServiceText.line(text), line.utf8.count <= 200, !line.contains("://")
        else {
            return ""
        }
        return " (\((line.hasSuffix(".") ? String(line.dropLast()) : line).excerpt))"
    }

    private func startsWith(_ text: String) -> Bool { response.body.starts(with: text.utf8) }

    private var text: String? {
        try? JSONDecoder().decode(Message.self, from: Data(response.body)).text
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

/// How many requests are left, and until when.
///
/// Source: docs.joinmastodon.org/api/rate-limits. The time is ISO 8601, by the clock of the server.
struct RateLimitHeaders {
    let limit: RateLimit
    var reset: Timestamp? { limit.reset }

    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard var rate = RateLimit(headers) else { return nil }
        if let reset = headers["X-RateLimit-Reset"].flatMap({ Timestamp(rfc3339: $0) }) {
            // By our clock, if that is another; and its fraction was dropped.
            let date = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? now
            let (ahead, overflows) = now.secondsSince1970
                .subtractingReportingOverflow(date.secondsSince1970)
            let isApart = !overflows && 10..<86_400 ~= abs(ahead)
            rate.reset = reset + .seconds(1 + (isApart ? ahead : 0))
        }
        self.limit = rate
    }
}
