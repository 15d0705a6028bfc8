internal import Contract

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
            "This command needs a confirmation, but standard input is not a terminal. Add --yes.")
    }
    guard await StandardInput.confirm(question) else { throw CommandFailure(.failed, "") }
}

extension AccountProperties {
    /// Formulates the question before an action that ends the login and deletes the pending likes.
    ///
    /// - Parameter action: The action in the imperative, such as “Log out of Ada”.
    /// - Returns: The question, with the number of pending likes.
    func confirmationQuestion(_ action: String) -> String {
        switch pendingLikes.count {
        case 0: "\(action)?"
        case 1: "\(action) and discard a like that has not been sent yet?"
        case let count: "\(action) and discard \(count) likes that have not been sent yet?"
        }
    }
}
