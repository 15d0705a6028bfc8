internal import Contract
internal import Translation

/// Prompts the user for confirmation on the terminal, and throws an error unless the user confirms.
///
/// - Parameters:
///   - question: The question, without the possible replies.
///   - isGiven: True if the option `--yes` was given. Then there is no prompt.
/// - Throws: ``CommandFailure``: without a message if the user declines; a usage error if there is no terminal.
@MainActor
func requireConfirmation(_ question: String, isGiven: Bool) async throws(CommandFailure) {
    if isGiven { return }
    guard Console.canPrompt else {
        throw CommandFailure(
            .usage,
            tr(
                "This command needs a confirmation, but standard input is not a terminal. Add --yes."
            ))
    }
    guard await StandardInput.confirm(question) else { throw CommandFailure(.failed, "") }
}

extension AccountProperties {
    /// The question before the logout, which deletes the pending likes.
    var logoutQuestion: String {
        guard !pendingLikes.isEmpty else { return tr("Log out of {account}?", ["account": label]) }
        return trn(
            "Log out of {account} and discard a like that has not been sent yet?",
            "Log out of {account} and discard {count} likes that have not been sent yet?",
            pendingLikes.count, ["account": label])
    }

    /// The question before the removal, which deletes the pending likes.
    var removalQuestion: String {
        guard !pendingLikes.isEmpty else {
            return tr("Remove {account} ({id})?", ["account": label, "id": id])
        }
        return trn(
            "Remove {account} ({id}) and discard a like that has not been sent yet?",
            "Remove {account} ({id}) and discard {count} likes that have not been sent yet?",
            pendingLikes.count, ["account": label, "id": id])
    }
}
