internal import ImageMetadata
public import Translation

/// The errors of a provider. Each is reported as one D-Bus error.
///
/// A message is one sentence for the user, which says what happened. It contains no secret.
///
/// The state of an account and notifications show it in the language of the user, D-Bus errors and logs in English. A
/// plugin's message is the same in each language: `Message(verbatim:)`.
public enum ProviderError: Error, Hashable, Sendable {
    /// The photo or source does not exist.
    case notFound(Message)
    /// The caller passed an invalid value.
    case invalidArgument(String)
    /// The provider does not support the call.
    case notSupported(Message)
    /// A setting is missing or wrong; the text says which.
    case notConfigured(Message)
    /// The position of a cursor was lost; the client starts from the first page.
    case staleCursor
    /// The user does not exist.
    case noSuchUser(Message)
    /// A user with this name exists.
    case userExists(Message)
    /// The password is wrong.
    case wrongPassword(Message)
    /// The service or the disk failed. The engine retries, with increasing delays.
    case failed(Message)
    /// The disk is full.
    case storageFull
    /// The service limits requests until the given time; nil if the time is unknown. The engine waits.
    case rateLimited(until: Timestamp?)
    /// The service does not accept the token of the account. The user must log in again.
    case unauthorized
    /// The account has no permission for this call.
    case denied(Message)
    /// The service refused this request and would refuse it again. It is not retried.
    case refused(Message)

    /// Returns the error for a page, or a redirect to one, that did not come from the service: that of a gateway, or of
    /// a network. It is no refusal of the token.
    package static func otherLogin(_ server: String) -> ProviderError {
        .failed(
            Message(
                "Another login stands before {server}, so that its answers do not arrive; exempt the API from that login, or check the address and the network.",
                ["server": server]))
    }
}

extension ProviderError: ExplainedError, CustomStringConvertible {
    /// One sentence, at most two.
    public var message: Message {
        switch self {
        case .invalidArgument(let text): Message(verbatim: text)
        case .notFound(let message), .notSupported(let message), .noSuchUser(let message),
            .userExists(let message), .wrongPassword(let message), .notConfigured(let message),
            .failed(let message), .denied(let message), .refused(let message):
            message
        case .staleCursor:
            Message("The position of the cursor was lost; start from the first page.")
        case .storageFull: Message("The disk is full; free some space and try again.")
        case .rateLimited: Message("The service limits requests; try again later.")
        case .unauthorized: Message("The account requires a new login.")
        }
    }
}

extension ImageProcessorError {
    /// The corresponding error of a provider.
    package var providerError: ProviderError {
        switch self {
        case .notSupported(let text): .notSupported(text)
        case .storageFull: .storageFull
        case .notReadable, .damaged, .tooLarge, .failed: .failed(message)
        }
    }
}
