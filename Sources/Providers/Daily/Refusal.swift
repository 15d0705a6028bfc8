internal import ProviderKit
internal import Translation
internal import WebService

extension ServiceDescription {
    static let commons = ServiceDescription("Wikimedia Commons")
}

extension Refusal {
    /// The time after which a request may be repeated that was rejected because of a slow database, if the response
    /// does not state the time.
    private static var lagPause: Duration { .seconds(5) }

    /// The error of the status, or of an HTML page; nil for a success.
    var error: ProviderError? {
        if response.status == 429 { return .rateLimited(until: retryTime) }
        // An overloaded service states when it is available again.
        if response.status == 503, let retryTime { return .rateLimited(until: retryTime) }
        if response.isHTML, response.status < 500 { return page }
        return switch response.status {
        case 200..<300: nil
        case 500...: serviceFailure
        default:
            .failed(
                Message(
                    "Wikimedia Commons rejected the request with status {status}{details}.",
                    [
                        "status": "\(response.status)",
                        "details": ServiceText.parenthesized(sentence),
                    ]))
        }
    }

    /// The first sentence of a text, up to an address.
    private var sentence: String {
        let text = String(decoding: response.body.prefix(500), as: UTF8.self)
        var words = text.split { $0 == " " || $0.isNewline }.prefix { !$0.contains("://") }
        if let end = words.firstIndex(where: { $0.hasSuffix(".") }) { words = words[...end] }
        return words.joined(separator: " ")
    }

    /// Returns the translation of an error in a response with status 200.
    func error(_ code: String, _ information: String?) -> ProviderError {
        switch code {
        case "maxlag": .rateLimited(until: retryTime ?? now + Self.lagPause)
        case "ratelimited": .rateLimited(until: retryTime)
        default:
            .failed(
                Message(
                    "Wikimedia Commons rejected the request{details}; try again later.",
                    ["details": ServiceText.parenthesized(information)]))
        }
    }
}
