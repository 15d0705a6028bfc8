internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
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
        let name = name(error)
        let text = text(error)
        guard text.utf8.count > 100 else { return ErrorReply(name, text) }
        let words = text.prefix(maximumText).split(separator: " ", omittingEmptySubsequences: false)
        let message = words.map { $0.last == "." ? "\($0.dropLast().excerpt)." : $0.excerpt }
            .joined(separator: " ")
        return ErrorReply(name, text.count > maximumText ? "\(message)…" : message)
    }

    /// Returns the name and the message of the error of a finished object; both empty without an error.
    static func property(_ error: (any Error)?) -> BusStruct<String, String> {
        guard let reply = error.map(Self.reply) else { return BusStruct("", "") }
        return BusStruct(reply.name.text, reply.message)
    }

    nonisolated private static func text(_ error: any Error) -> String {
        switch error {
        case let error as SecretStoreError: error.message.english
        case is CancellationError: "The call was cancelled."
        default: "\(error)"
        }
    }

    nonisolated private static func name(_ error: any Error) -> ErrorName {
        switch error {
        case let error as EngineError: engineName(error)
        case let error as ProviderError: providerName(error)
        case let error as HTTPError: httpName(error)
        case let error as SecretStoreError:
            error.isStoreGone
                ? ServiceError.secretStoreUnavailable.name : ServiceError.secretStoreLocked.name
        case StorageError.full: ServiceError.storageFull.name
        case is StorageError: ServiceError.storageFailed.name
        case is CancellationError: ServiceError.cancelled.name
        default: .failed
        }
    }

    nonisolated private static func engineName(_ error: EngineError) -> ErrorName {
        switch error {
        case .notFound: ServiceError.notFound.name
        case .invalidArgument: .invalidArgs
        case .notSupported: ServiceError.notSupported.name
        case .needsLogin: ServiceError.needsLogin.name
        case .notConfigured: ServiceError.notConfigured.name
        case .alreadyLoggedIn: ServiceError.alreadyLoggedIn.name
        case .loginFailed: ServiceError.loginFailed.name
        case .loginDenied: ServiceError.loginDenied.name
        case .loginTimedOut: ServiceError.loginTimedOut.name
        case .tooManyPasswords: ServiceError.rateLimited.name
        case .tooManyLogins, .tooManyTransfers, .tooManyImages, .tooManySlideshows: .limitsExceeded
        case .cancelled: ServiceError.cancelled.name
        case .tooLarge: ServiceError.tooLarge.name
        case .cannotWrite(let code): writingName(code)
        }
    }

    nonisolated private static func providerName(_ error: ProviderError) -> ErrorName {
        switch error {
        case .notFound: ServiceError.notFound.name
        case .invalidArgument: .invalidArgs
        case .notSupported: ServiceError.notSupported.name
        case .notConfigured: ServiceError.notConfigured.name
        case .staleCursor: ServiceError.staleCursor.name
        case .noSuchUser: ServiceError.noSuchUser.name
        case .userExists: ServiceError.userExists.name
        case .wrongPassword: ServiceError.wrongPassword.name
        case .failed, .denied, .refused: ServiceError.serviceFailed.name
        case .storageFull: ServiceError.storageFull.name
        case .rateLimited: ServiceError.rateLimited.name
        case .unauthorized: ServiceError.needsLogin.name
        }
    }

    nonisolated private static func httpName(_ error: HTTPError) -> ErrorName {
        switch error {
        case .unreachable: ServiceError.offline.name
        case .failed, .invalidAddress, .forbiddenAddress: ServiceError.serviceFailed.name
        case .tooLarge: ServiceError.tooLarge.name
        case .cannotWrite(let code): writingName(code)
        }
    }

    /// Returns the name for the `errno` of a failed write.
    nonisolated private static func writingName(_ code: Int32) -> ErrorName {
        [ENOSPC, EDQUOT].contains(code) ? ServiceError.storageFull.name : .ioError
    }
}
