/// What a provider cannot do, in terms that a client of the bus is told in.
///
/// Texts are one sentence that a person can act on, and name no secret.
public enum ProviderError: Error, Hashable, Sendable {
    /// Something that was asked for does not exist: photo, source.
    case notFound(String)
    /// The caller's mistake.
    case invalidArgument(String)
    case notSupported(String)
    /// Something has to be set first, or set differently; the text says what and where.
    case notConfigured(String)
    /// The place that a cursor named is lost; the walk has to begin anew.
    case staleCursor
    case noSuchUser(String)
    case userExists(String)
    case wrongPassword(String)
    /// The service, or the disk in its place, does not do its part.
    case failed(String)
    case storageFull
    /// The service asks to be left alone until then; nil where it does not say how long.
    case rateLimited(until: Timestamp?)
    /// The service does not know the account's token (any more).
    case unauthorized
    /// The account is not allowed to do that.
    case denied(String)
    /// The service refused this request for a reason of its own, and would refuse it again.
    case refused(String)
}

/// The sentence for a person.
extension ProviderError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let text), .invalidArgument(let text), .notSupported(let text),
            .noSuchUser(let text), .userExists(let text), .wrongPassword(let text),
            .notConfigured(let text), .failed(let text), .denied(let text), .refused(let text):
            text
        case .staleCursor: "The place of the cursor is lost; start from the top."
        case .storageFull: "The disk is full; make some room and try again."
        case .rateLimited: "That was asked for too often; try again later."
        case .unauthorized: "The service does not accept the login any more; log in again."
        }
    }
}
