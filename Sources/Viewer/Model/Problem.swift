internal import Contract
internal import DBus
internal import ImageMetadata
internal import ProviderKit
internal import Toolkit
internal import Translation

/// An error as it is shown: one sentence, and the remedy if there is one.
struct Problem: Equatable {
    let sentence: String
    var remedy: Remedy? = .retry
    /// The error of the contract; nil for others.
    var kind: ServiceError?
}

extension Problem {
    init(_ error: any Error) {
        switch error {
        case BusError.reply(let reply): self.init(reply)
        case BusError.disconnected:
            self.init(
                sentence: tr(
                    "The connection to the session bus was lost. Start the program again."),
                remedy: nil)
        case is CancellationError: self.init(sentence: tr("The request was cancelled."))
        case let error as ImageProcessorError:
            self.init(sentence: error.message.translated, remedy: error == .tooLarge ? nil : .retry)
        default: self.init(sentence: tr("The service sent an unexpected reply. Try again."))
        }
    }

    private init(_ reply: ErrorReply) {
        let kind = ServiceError(reply.name)
        let sentence =
            if reply.name == .noReply {
                tr("The service did not reply in time. Try again.")
            } else if reply.name.isUnreachable {
                tr("The Image Feed service is not running and could not be started.")
            } else if [.unknownObject, .unknownInterface, .unknownMethod].contains(reply.name) {
                tr(
                    "The running Image Feed service does not offer this. Log in to an account, or restart the service."
                )
            } else {
                kind?.explanation(details: reply.message) ?? reply.message
            }
        let remedy: Remedy? =
            switch kind {
            case .needsLogin: .login
            case .notConfigured: .configure
            case .secretStoreLocked: .unlock
            case .secretStoreUnavailable: .installKeyring
            case .storageFull: .freeSpace
            case .notFound, .notSupported, .tooLarge: nil
            default: .retry
            }
        self.init(sentence: sentence, remedy: remedy, kind: kind)
    }
}

extension ToastArea {
    /// Performs an action and shows its error.
    func perform(_ action: @escaping () async throws -> Void) {
        Task {
            do { try await action() } catch { show(Problem(error).sentence) }
        }
    }
}
