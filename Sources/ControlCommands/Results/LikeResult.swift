internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

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
        let values: KeyValuePairs = ["photo": reference]
        let text =
            switch (liked, outcome) {
            case (true, .done): tr("Liked {photo}", values)
            case (true, .queued): tr("Liked {photo} (queued)", values)
            case (true, .local): tr("Liked {photo} (on this computer only)", values)
            case (false, .done): tr("Unliked {photo}", values)
            case (false, .queued): tr("Unliked {photo} (queued)", values)
            case (false, .local): tr("Unliked {photo} (on this computer only)", values)
            }
        return TerminalText.line(text) + "\n"
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
        let values: KeyValuePairs = ["provider": provider]
        switch outcome {
        case .done: return nil
        case .queued:
            let reason =
                liked
                ? tr("{provider} has not confirmed the like.", values)
                : tr("{provider} has not confirmed the unlike.", values)
            return [
                problem ?? reason,
                liked
                    ? tr("The like is queued and will be sent later.")
                    : tr("The unlike is queued and will be sent later."),
            ].joined(separator: " ")
        case .local where isWithoutUsers:
            return liked
                ? tr("{provider} has no likes. The like is stored on this computer.", values)
                : tr("{provider} has no likes. The unlike is stored on this computer.", values)
        case .local:
            let reason = tr(
                "{provider} does not support likes, or does not permit them to this account.",
                values)
            return [
                problem ?? reason,
                liked
                    ? tr(
                        "The like is stored on this computer, and is sent if the service permits it later."
                    )
                    : tr(
                        "The unlike is stored on this computer, and is sent if the service permits it later."
                    ),
            ].joined(separator: " ")
        }
    }
}
