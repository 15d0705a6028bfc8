internal import ProviderKit
internal import Quoting

/// A translation of a response with an error to a ``ProviderError``.
struct Refusal {
    let response: HTTPResponse
    let now: Timestamp

    /// The longest time for which a response can limit requests.
    private static let longestPause = Duration.seconds(86_400)
    /// The time after which a request may be repeated that was rejected because of a slow database, if the response
    /// does not state the time.
    private static let lagPause = Duration.seconds(5)

    /// The error of the status, or of an HTML page; nil for a success.
    var error: ProviderError? {
        if response.status == 429 { return .rateLimited(until: retryTime) }
        // An overloaded service states when it is available again.
        if response.status == 503, let retryTime { return .rateLimited(until: retryTime) }
        if response.isHTML, response.status < 500 { return Self.invalidResponse("an HTML page") }
        return switch response.status {
        case 200..<300: nil
        case 500...:
            .failed(
                "Wikimedia Commons failed with status \(response.status); try again later.")
        default: .failed("Wikimedia Commons rejected the request (status \(response.status)).")
        }
    }

    /// Returns the translation of an error in a response with status 200.
    func error(_ record: ErrorRecord) -> ProviderError {
        switch record.code {
        case "maxlag": .rateLimited(until: retryTime ?? now + Self.lagPause)
        case "ratelimited": .rateLimited(until: retryTime)
        default:
            .failed(
                "Wikimedia Commons rejected the request\(ServiceText.parenthesized(record.info)); try again later."
            )
        }
    }

    static func invalidResponse(_ reason: String) -> ProviderError {
        .failed("Wikimedia Commons sent an invalid response (\(reason)); try again later.")
    }

    private var retryTime: Timestamp? {
        response.retryAfter(now: now).map { now + min($0, Self.longestPause) }
    }
}
