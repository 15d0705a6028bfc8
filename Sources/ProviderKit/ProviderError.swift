/// The errors of a provider. Each is reported as one D-Bus error.
///
/// A text is one sentence for the user, which says what happened. It contains no secret.
public enum ProviderError: Error, Hashable, Sendable {
    /// The photo or source does not exist.
    case notFound(String)
    /// The caller passed an invalid value.
    case invalidArgument(String)
    /// The provider does not support the call.
    case notSupported(String)
    /// A setting is missing or wrong; the text says which.
    case notConfigured(String)
    /// The position of a cursor was lost; the client starts from the first page.
    case staleCursor
    /// The user does not exist.
    case noSuchUser(String)
    /// A user with this name exists.
    case userExists(String)
    /// The password is wrong.
    case wrongPassword(String)
    /// The service or the disk failed. The engine retries, with increasing delays.
    case failed(String)
    /// The disk is full.
    case storageFull
    /// The service limits requests until the given time; nil if the time is unknown. The engine waits.
    case rateLimited(until: Timestamp?)
    /// The service does not accept the token of the account. The user must log in again.
    case unauthorized
    /// The account has no permission for this call.
    case denied(String)
    /// The service refused this request and would refuse it again. It is not retried.
    case refused(String)
}

/// The message for the user.
extension ProviderError: CustomStringConvertible {
    /// One sentence, at most two.
    public var description: String {
        switch self {
        case .notFound(let text), .invalidArgument(let text), .notSupported(let text),
            .noSuchUser(let text), .userExists(let text), .wrongPassword(let text),
            .notConfigured(let text), .failed(let text), .denied(let text), .refused(let text):
            text
        case .staleCursor: "The position of the cursor was lost; start from the first page."
        case .storageFull: "The disk is full; free some space and try again."
        case .rateLimited: "The service limits requests; try again later."
        case .unauthorized: "The account requires a new login."
        }
    }
}
