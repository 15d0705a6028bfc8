internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit
internal import Storage

/// The one table from our errors to the names that they have on the bus.
enum ErrorTable {
    nonisolated static func reply(_ error: any Error) -> ErrorReply {
        switch error {
        case let error as EngineError: reply(error)
        case let error as ProviderError: reply(error)
        case StorageError.full: reply(.storageFull, "\(StorageError.full)")
        case is CancellationError: reply(.cancelled, "The call was cancelled.")
        default: ErrorReply(.failed, "\(error)")
        }
    }

    nonisolated private static func reply(_ error: EngineError) -> ErrorReply {
        switch error {
        case .notFound(let text): reply(.notFound, text)
        case .invalidArgument(let text): ErrorReply(.invalidArgs, text)
        case .notSupported(let text): reply(.notSupported, text)
        case .needsLogin(let text): reply(.needsLogin, text)
        case .alreadyLoggedIn(let text): reply(.alreadyLoggedIn, text)
        case .loginFailed(let text): reply(.loginFailed, text)
        case .loginTimedOut:
            reply(.loginTimedOut, "The login took more than ten minutes; start anew.")
        case .tooManyLogins:
            ErrorReply(
                .limitsExceeded,
                "\(Login.maximumUnfinished) logins are unfinished; finish or cancel one first.")
        case .cancelled(let text): reply(.cancelled, text)
        }
    }

    nonisolated private static func reply(_ error: ProviderError) -> ErrorReply {
        switch error {
        case .notFound(let text): reply(.notFound, text)
        case .invalidArgument(let text): ErrorReply(.invalidArgs, text)
        case .notSupported(let text): reply(.notSupported, text)
        case .notConfigured(let text): reply(.notConfigured, text)
        case .staleCursor:
            reply(.staleCursor, "The place of the cursor is lost; start from the top.")
        case .noSuchUser(let text): reply(.noSuchUser, text)
        case .userExists(let text): reply(.userExists, text)
        case .wrongPassword: reply(.wrongPassword, "The password is wrong.")
        case .failed(let text): reply(.serviceFailed, text)
        case .storageFull: reply(.storageFull, "\(StorageError.full)")
        case .rateLimited: reply(.rateLimited, "The service asks to be left alone for a while.")
        case .unauthorized: reply(.needsLogin, "The service refused the login; log in again.")
        case .denied(let text): reply(.serviceFailed, text)
        }
    }

    nonisolated private static func reply(_ error: ServiceError, _ message: String) -> ErrorReply {
        ErrorReply(error.name, message)
    }
}
