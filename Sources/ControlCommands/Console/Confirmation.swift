/// Goes on only if the person at the terminal agrees.
///
/// - Parameters:
///   - question: What to agree to.
///   - isGiven: Whether `--yes` already says so.
/// - Throws: ``CommandFailure``: a silent one for a "no", and wrong usage where nobody can be asked.
@MainActor
func agree(to question: String, unless isGiven: Bool) async throws(CommandFailure) {
    if isGiven { return }
    guard Console.canAsk else {
        throw CommandFailure(
            .usage, "This needs a “yes”, and there is no terminal to ask on; add --yes.")
    }
    guard await StandardInput.confirm(question) else { throw CommandFailure(.failed, "") }
}

extension AccountRecord {
    /// Asks whether to do something that ends the login, and with it the likes that are not sent yet.
    func question(_ deed: String) -> String {
        switch pendingLikes?.count ?? 0 {
        case 0: "\(deed)?"
        case 1: "\(deed) and drop a like that is not sent yet?"
        case let count: "\(deed) and drop \(count) likes that are not sent yet?"
        }
    }
}
