internal import FoundationEssentials
internal import ProviderKit
internal import Quoting

/// What an answer says that is no success, in terms of the engine.
///
/// Unsplash says "too many requests" by a 403 with the plain text `Rate Limit Exceeded`, and "not allowed"
/// by a 403 with JSON.
struct Refusal {
    /// What was asked for.
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

    /// nil for a success.
    var error: ProviderError? {
        switch response.status {
        case 200..<300: nil
        case 401: .unauthorized
        case 429: .rateLimited(until: retryTime)
        case 403: forbidden
        case 404, 410: gone
        case 400, 422: refused
        case 500...: .failed("Unsplash has trouble (status \(response.status)); try again later.")
        default: Self.nonsense("status \(response.status)")
        }
    }

    /// The service did not keep to its own rules.
    static func nonsense(_ what: String) -> ProviderError {
        .failed(
            "Unsplash answered nonsense (\(what)); try again later, and check ApiUrl if it is set.")
    }

    private var forbidden: ProviderError {
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self).lowercased()
        if text.contains("rate limit") || response.headers["X-Ratelimit-Remaining"] == "0" {
            return .rateLimited(until: retryTime)
        }
        guard isJSON else { return Self.nonsense("a refusal that is not its own") }
        return .denied(
            "Unsplash does not allow this account to \(action)\(quoted); tick the application's permissions at Unsplash, then log in again."
        )
    }

    private var gone: ProviderError {
        switch subject {
        case .like: return .notFound("Unsplash has no such photo, or no likes any more.")
        case .source(let id) where response.status == 410 && id.text.hasPrefix("search:"):
            return .invalidArgument("Unsplash does not search for these words; try others.")
        default: break
        }
        // A page for people comes from something else than the API: that the photo is gone it cannot know.
        guard !response.isPage else { return Self.nonsense("a page for people") }
        return switch subject {
        case .photo(let id), .like(let id):
            .notFound("There is no photo \(id.text.quoted) at Unsplash.")
        case .source(let id): .notFound("There is no source \(id.text.quoted) at Unsplash.")
        case .user: .notFound("Unsplash does not know who has logged in.")
        case .topics: .notFound("Unsplash has no topics.")
        case .download: .notFound("Unsplash does not count downloads of this photo.")
        }
    }

    private var refused: ProviderError {
        switch subject {
        case .source(let id):
            .invalidArgument("Unsplash does not take the source \(id.text.quoted)\(quoted).")
        case .like where response.isPage: Self.nonsense("a page for people")
        case .like: .refused("Unsplash does not accept a like of this photo\(quoted).")
        default: .failed("Unsplash refused to \(action)\(quoted).")
        }
    }

    private var action: String {
        switch subject {
        case .photo: "show a photo"
        case .source: "show these photos"
        case .like: "like photos"
        case .user: "tell who has logged in"
        case .topics: "list the topics"
        case .download: "count downloads"
        }
    }

    /// When to try again: as told, at most a day from now; else at the next full hour, since limits are
    /// per hour and nothing says when it ends.
    private var retryTime: Timestamp {
        if let pause = response.retryAfter(now: now) { return now + min(pause, .seconds(86400)) }
        let hour: Int64 = 3600
        return Timestamp(secondsSince1970: (now.secondsSince1970 / hour + 1) * hour)
    }

    private var isJSON: Bool { messages != nil }

    /// What the service said, if it can be repeated: no address, since that may hold what is secret.
    private var quoted: String {
        guard let message = messages?.first, let line = ServiceText.line(message),
            line.utf8.count <= 200, !line.contains("://")
        else { return "" }
        return " (\(line.excerpt))"
    }

    /// The texts of an error of the API, or of its login; nil for something else.
    private var messages: [String]? {
        try? JSONDecoder().decode(Messages.self, from: Data(response.body)).texts
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
