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
        case let error as BusError: self.init(error)
        case is CancellationError: self.init(sentence: tr("The request was cancelled."))
        case let error as ImageProcessorError:
            self.init(sentence: error.message.translated, remedy: error == .tooLarge ? nil : .retry)
        default: self.init(sentence: tr("The service sent an unexpected reply. Try again."))
        }
    }

    private init(_ error: BusError) {
        let kind: ServiceError? =
            if case .reply(let reply) = error { ServiceError(reply.name) } else { nil }
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
        self.init(
            sentence: error.windowExplanation, remedy: error == .disconnected ? nil : remedy,
            kind: kind)
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
