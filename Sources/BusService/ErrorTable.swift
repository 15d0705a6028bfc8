internal import Accounts
internal import Contract
internal import DBus
internal import Engine
internal import Glibc
internal import ProviderKit
internal import Quoting
internal import Storage
internal import Translation

/// The mapping from errors to their D-Bus names.
enum ErrorTable {
    /// The longest message, in characters.
    nonisolated private static let maximumText = 1000

    /// Returns the name and the message of an error.
    ///
    /// Messages of plugins and services may repeat a caller's text, so long words are shortened here.
    ///
    /// - Parameter error: The error.
    /// - Returns: The reply.
    nonisolated static func reply(_ error: any Error) -> ErrorReply {
        let reply = wholeReply(error)
        guard reply.message.utf8.count > 100 else { return reply }
        let words = reply.message.prefix(maximumText).split(
            separator: " ", omittingEmptySubsequences: false)
        let message = words.map { $0.last == "." ? "\($0.dropLast().excerpt)." : $0.excerpt }
            .joined(separator: " ")
        return ErrorReply(
            reply.name, reply.message.count > maximumText ? "\(message)…" : message)
    }

    /// Returns the name and the message of the error of a finished object; both empty without an error.
    static func property(_ error: (any Error)?) -> BusStruct<String, String> {
        guard let reply = error.map(Self.reply) else { return BusStruct("", "") }
        return BusStruct(reply.name.text, reply.message)
    }

    nonisolated private static func wholeReply(_ error: any Error) -> ErrorReply {
        switch error {
        case EngineError.invalidArgument(let text), ProviderError.invalidArgument(let text):
            ErrorReply(.invalidArgs, text)
        case EngineError.tooManyLogins, EngineError.tooManyTransfers, EngineError.tooManyImages,
            EngineError.tooManySlideshows:
            ErrorReply(.limitsExceeded, "\(error)")
        case EngineError.cannotWrite(let code) where ![ENOSPC, EDQUOT].contains(code):
            ErrorReply(.ioError, "\(error)")
        case let error as EngineError: ErrorReply(name(error).name, "\(error)")
        case let error as ProviderError: ErrorReply(name(error).name, "\(error)")
        case HTTPError.cannotWrite(let code) where ![ENOSPC, EDQUOT].contains(code):
            ErrorReply(.ioError, "\(error)")
        case let error as HTTPError: ErrorReply(name(error).name, "\(error)")
        case let error as SecretStoreError: ErrorReply(name(error).name, error.message.english)
        case StorageError.full: ErrorReply(ServiceError.storageFull.name, "\(StorageError.full)")
        case StorageError.readOnly, StorageError.cannotOpen: ErrorReply(.ioError, "\(error)")
        case is CancellationError:
            ErrorReply(ServiceError.cancelled.name, "The call was cancelled.")
        default: ErrorReply(.failed, "\(error)")
        }
    }

    nonisolated private static func name(_ error: EngineError) -> ServiceError {
        switch error {
        case .notFound: .notFound
        // Handled above: these have standard D-Bus names.
        case .invalidArgument, .tooManyLogins, .tooManyTransfers, .tooManyImages,
            .tooManySlideshows, .notSupported:
            .notSupported
        case .needsLogin: .needsLogin
        case .notConfigured: .notConfigured
        case .alreadyLoggedIn: .alreadyLoggedIn
        case .loginFailed: .loginFailed
        case .loginDenied: .loginDenied
        case .loginTimedOut: .loginTimedOut
        case .cancelled: .cancelled
        case .tooLarge: .tooLarge
        // For a full disk; other causes are handled above.
        case .cannotWrite: .storageFull
        }
    }

    nonisolated private static func name(_ error: ProviderError) -> ServiceError {
        switch error {
        case .notFound: .notFound
        // Handled above: it has a standard D-Bus name.
        case .invalidArgument, .notSupported: .notSupported
        case .notConfigured: .notConfigured
        case .staleCursor: .staleCursor
        case .noSuchUser: .noSuchUser
        case .userExists: .userExists
        case .wrongPassword: .wrongPassword
        case .failed, .denied, .refused: .serviceFailed
        case .storageFull: .storageFull
        case .rateLimited: .rateLimited
        case .unauthorized: .needsLogin
        }
    }

    nonisolated private static func name(_ error: HTTPError) -> ServiceError {
        switch error {
        case .unreachable: .offline
        case .failed, .invalidAddress, .forbiddenAddress: .serviceFailed
        case .tooLarge: .tooLarge
        // For a full disk; other causes are handled above.
        case .cannotWrite: .storageFull
        }
    }

    nonisolated private static func name(_ error: SecretStoreError) -> ServiceError {
        switch error {
        case .unavailable, .failed: .secretStoreUnavailable
        case .locked, .dismissed, .denied: .secretStoreLocked
        }
    }
}
