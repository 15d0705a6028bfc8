internal import ProviderKit
internal import Translation
internal import WebService

extension ServiceDescription {
    static let unsplash = ServiceDescription(
        "Unsplash", advice: Message("try again later, and check ApiUrl if it is set"))
}

// Unsplash uses status 403 with the plain text `Rate Limit Exceeded` for the rate limit, and with JSON for other errors,
// such as `OAuth error: missing permissions`.
extension Refusal {
    /// The error; nil for a success.
    var error: ProviderError? {
        switch response.status {
        case 200..<300: nil
        case 401: texts == nil ? otherLogin : .unauthorized
        case 429: .rateLimited(until: limitEnd)
        case 403: forbiddenError
        case 404, 410: notFoundError
        case 400, 422: rejection(quoted)
        case 500...: serviceFailure
        default: unexpectedStatus
        }
    }

    private var forbiddenError: ProviderError {
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self).lowercased()
        if text.contains("rate limit") || response.headers["X-Ratelimit-Remaining"] == "0" {
            return .rateLimited(until: limitEnd)
        }
        guard response.record != nil else {
            return service.invalidResponse(Message("a 403 without JSON"))
        }
        // Any other reason concerns only this photo.
        if case .like = subject, !text.contains("permission") { return refusedLike(quoted) }
        return .denied(
            Message(
                "Unsplash does not allow this account to {action}{details}; enable the application's permissions at Unsplash, then log in again.",
                messages: ["action": action, "details": Message(verbatim: quoted)]))
    }

    private var notFoundError: ProviderError {
        switch subject {
        case _ where response.isHTML: page
        case .like:
            .notFound(
                Message(
                    "The photo does not exist at Unsplash, or likes are not supported any more."))
        case .source(let id) where response.status == 410 && id.text.hasPrefix("search:"):
            .invalidArgument("Unsplash does not allow a search for these words; try others.")
        default: notFound
        }
    }

    /// The time of the next attempt: the time of `Retry-After`, or the next full hour, because the limits are per hour
    /// and responses do not state the end.
    private var limitEnd: Timestamp {
        let hour: Int64 = 3600
        return retryTime ?? Timestamp(secondsSince1970: (now.secondsSince1970 / hour + 1) * hour)
    }

    /// The text in an error document of the API or of its login, in parentheses.
    private var quoted: String {
        let record = response.record
        return ServiceText.parenthesized(
            texts.map(\.first) ?? record?.text("error_description") ?? record?.text("error"))
    }

    /// The texts in an error document of the API; nil for another body.
    private var texts: [String]? { response.record?.value("errors", as: [String].self) }
}
