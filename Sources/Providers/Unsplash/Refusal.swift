internal import ProviderKit
internal import Quoting

/// Translates a response with an error status to a ``ProviderError``.
///
/// Unsplash uses status 403 for two errors: with the plain text `Rate Limit Exceeded` for the rate limit, and with JSON
/// for a missing permission.
struct Refusal {
    /// The item that was requested.
    enum Subject: Hashable, Sendable {
        case photo(PhotoID)
        case source(SourceID)
        case like(PhotoID)
        case user
        case topics
        case download
    }

    let response: HTTPResponse
    let subject: Subject
    let now: Timestamp

    /// The error; nil for a success.
    var error: ProviderError? {
        switch response.status {
        case 200..<300: nil
        case 401: .unauthorized
        case 429: .rateLimited(until: retryTime)
        case 403: forbiddenError
        case 404, 410: notFoundError
        case 400, 422: rejectionError
        case 500...:
            .failed("Unsplash failed with status \(response.status); try again later.")
        default: Self.invalidResponse("status \(response.status)")
        }
    }

    /// Returns the error for a response that violates the API.
    static func invalidResponse(_ reason: String) -> ProviderError {
        .failed(
            "Unsplash sent an invalid response (\(reason)); try again later, and check ApiUrl if it is set."
        )
    }

    private var forbiddenError: ProviderError {
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self).lowercased()
        if text.contains("rate limit") || response.headers["X-Ratelimit-Remaining"] == "0" {
            return .rateLimited(until: retryTime)
        }
        guard isJSON else { return Self.invalidResponse("a 403 without JSON") }
        return .denied(
            "Unsplash does not allow this account to \(action)\(quoted); enable the application's permissions at Unsplash, then log in again."
        )
    }

    private var notFoundError: ProviderError {
        switch subject {
        case .like:
            return .notFound(
                "The photo does not exist at Unsplash, or likes are not supported any more.")
        case .source(let id) where response.status == 410 && id.text.hasPrefix("search:"):
            return .invalidArgument("Unsplash does not allow a search for these words; try others.")
        default: break
        }
        // An HTML page does not come from the API and does not concern the photo.
        guard !response.isHTML else { return Self.invalidResponse("an HTML page") }
        return switch subject {
        case .photo(let id), .like(let id):
            .notFound("There is no photo \(id.text.quoted) at Unsplash.")
        case .source(let id): .notFound("There is no source \(id.text.quoted) at Unsplash.")
        case .user: .notFound("Unsplash has no user for this login; log in again.")
        case .topics: .notFound("Unsplash has no topics.")
        case .download: .notFound("Unsplash does not count downloads of this photo.")
        }
    }

    private var rejectionError: ProviderError {
        switch subject {
        case .source(let id):
            .invalidArgument("Unsplash does not accept the source \(id.text.quoted)\(quoted).")
        case .like where response.isHTML: Self.invalidResponse("an HTML page")
        case .like: .refused("Unsplash does not accept a like of this photo\(quoted).")
        default: .failed("Unsplash rejected the request to \(action)\(quoted).")
        }
    }

    private var action: String {
        switch subject {
        case .photo: "view a photo"
        case .source: "view these photos"
        case .like: "like photos"
        case .user: "read the user profile"
        case .topics: "list the topics"
        case .download: "count downloads"
        }
    }

    /// The time of the next attempt: the time of `Retry-After`, at most a day from now. Without this field, the next
    /// full hour, because the limits are per hour and responses do not state the end.
    private var retryTime: Timestamp {
        if let pause = response.retryAfter(now: now) { return now + min(pause, .seconds(86400)) }
        let hour: Int64 = 3600
        return Timestamp(secondsSince1970: (now.secondsSince1970 / hour + 1) * hour)
    }

    private var isJSON: Bool { messages != nil }

    private var quoted: String { ServiceText.parenthesized(messages?.first) }

    /// The texts in an error document of the API or of its login; nil for another document.
    private var messages: [String]? {
        response.decodeJSON(Messages.self)?.texts
    }

    private struct Messages: Decodable {
        let texts: [String]

        private enum Key: String, CodingKey {
            case errors, error
            case explanation = "error_description"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            texts =
                values.lenient(.errors)
                ?? [values.lenient(.explanation), values.lenient(.error)].compactMap(\.self)
        }
    }
}
