package import ProviderKit
internal import Quoting
package import Translation

/// A response that can be an error, with the request that it concerns. Each provider translates its statuses to errors.
package struct Refusal: Sendable {
    /// The item that was requested.
    package enum Subject: Hashable, Sendable {
        case photo(PhotoID)
        case source(SourceID)
        case like(PhotoID)
        case user
        /// Another item, as the rest of a sentence: `list the topics`.
        case other(Message)
    }

    package let response: HTTPResponse
    package let subject: Subject
    package let service: ServiceDescription
    package let now: Timestamp

    package init(
        _ response: HTTPResponse, _ subject: Subject, _ service: ServiceDescription, now: Timestamp
    ) {
        self.response = response
        self.subject = subject
        self.service = service
        self.now = now
    }

    /// The end of a pause that the response requests, at most a day from now; nil if it states none.
    package var retryTime: Timestamp? {
        response.retryAfter(now: now).map { now + min($0, .seconds(86_400)) }
    }

    /// The error for a status whose cause is in the service.
    package var serviceFailure: ProviderError {
        .failed(
            service.tr(
                "{service} failed with status {status}; try again later.",
                ["status": "\(response.status)"]))
    }

    /// The error for a status that the API does not have.
    package var unexpectedStatus: ProviderError {
        service.invalidResponse(
            Message("status {status}", ["status": "\(response.status)"]))
    }

    /// The error for an HTML page, which does not come from an API and does not concern the requested item.
    package var page: ProviderError {
        response.hasStatusOfGateway ? otherLogin : service.invalidResponse(Message("an HTML page"))
    }

    /// The error for a response of a gateway before the service.
    package var otherLogin: ProviderError { .otherLogin(service.name) }

    /// The requested action, as the rest of a sentence.
    package var action: Message {
        switch subject {
        case .photo: Message("view a photo")
        case .source: Message("view these photos")
        case .like: Message("like photos")
        case .user: Message("read the user profile")
        case .other(let action): action
        }
    }

    /// The error for an item that does not exist.
    package var notFound: ProviderError {
        switch subject {
        case .photo(let id), .like(let id): service.missing(id)
        // A service always has the sources without a name, except its list of likes.
        case .source(let id) where id.parts.name == nil && id.text != "likes": unexpectedStatus
        case .source(let id): service.missing(id)
        case _ where response.isHTML: page
        case .user:
            .notFound(service.tr("{service} has no user for this login; log in again."))
        case .other(let action):
            .notFound(service.tr("{service} cannot {action}.", messages: ["action": action]))
        }
    }

    /// Returns the error for a like that the account may not set.
    ///
    /// - Parameter details: The reason in parentheses, or empty text.
    /// - Returns: The error.
    package func refusedLike(_ details: String) -> ProviderError {
        .refused(
            service.tr(
                "{service} does not let this account like this photo{details}.",
                ["details": details]))
    }

    /// Returns the error for a request that the service does not accept.
    ///
    /// - Parameter reason: The reason in parentheses, or empty text.
    /// - Returns: The error.
    package func rejection(_ reason: String) -> ProviderError {
        guard !response.isHTML else { return page }
        return switch subject {
        case .source(let id):
            .invalidArgument(
                "\(service.name) does not accept the source \(id.text.quoted)\(reason).")
        case .like:
            .refused(
                service.tr(
                    "{service} does not accept a like of this photo{details}.", ["details": reason])
            )
        default:
            .failed(
                // Translators: {action} is “like photos” or “list the albums”; {details} is empty or “ (a text)”.
                service.tr(
                    "{service} rejected the request to {action}{details}.", ["details": reason],
                    messages: ["action": action]))
        }
    }
}
