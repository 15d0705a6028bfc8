internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit

/// The result of a like or unlike.
struct LikeResult: Renderable {
    let account: ObjectPath
    let photo: String
    /// True after a like, false after an unlike, even if it is pending.
    let liked: Bool
    let outcome: LikeOutcome

    var json: JSON {
        .object([
            .init("photo", .string(photo)), .init("account", .string(account.text)),
            .init("liked", .bool(liked)), .init("outcome", .string(outcome.rawValue)),
        ])
    }

    func text(for target: OutputTarget) -> String {
        let reference = "\(account.lastElement)/\(photo)"
        guard target != .pipe else {
            let fields = [reference, liked ? "liked" : "not liked", outcome.rawValue]
            return fields.map(TerminalText.line).joined(separator: "\t") + "\n"
        }
        let suffix =
            switch outcome {
            case .done: ""
            case .queued: " (queued)"
            case .local: " (on this computer only)"
            }
        return TerminalText.line("\(liked ? "Liked" : "Unliked") \(reference)\(suffix)") + "\n"
    }

    /// Explains an outcome other than `done`.
    ///
    /// - Parameters:
    ///   - provider: The display name of the provider.
    ///   - problem: The reason why the provider or the account cannot be used, or does not permit likes; nil if there is none.
    ///   - isWithoutUsers: True if the service has no users, and therefore no likes.
    /// - Returns: A message for standard error; nil for `done`.
    func message(
        provider: String, problem: String? = nil, isWithoutUsers: Bool = false
    ) -> String? {
        let change = liked ? "like" : "unlike"
        return switch outcome {
        case .done: nil
        case .queued:
            "\(problem ?? "\(provider) has not confirmed the \(change).") "
                + "The \(change) is queued and will be sent later."
        case .local where isWithoutUsers:
            "\(provider) has no likes. The \(change) is stored on this computer."
        case .local:
            "\(problem ?? "\(provider) does not support likes, or does not permit them to this account.") "
                + "The \(change) is stored on this computer, and is sent if the service permits it later."
        }
    }
}
