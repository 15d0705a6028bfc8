internal import Logging
internal import ProviderKit

/// The hosts and programs that receive the token of an account.
extension Engine {
    /// Returns the reason why a provider may not use the stored token of an account; nil if it may.
    ///
    /// Another version of a provider may send the token to other hosts, or pass it to another program. The user agrees
    /// to that with a new login.
    func recipientsProblem(of account: Account) -> String? {
        guard let provider = account.provider.installed else { return nil }
        let current = provider.tokenRecipients
        guard !current.isEmpty else { return nil }
        guard let known = tokenRecipients[account.id] else {
            // The last login was before recipients were stored.
            Task {
                do {
                    try await storeTokenRecipients(of: provider, for: account.id)
                } catch {
                    ports.logger.warning(
                        "The recipients of a token cannot be stored",
                        metadata: ["account": "\(account.id)", "error": "\(error)"])
                }
            }
            return nil
        }
        guard !current.isSubset(of: known) else { return nil }
        let isKey = if case .key = provider.loginMethod { true } else { false }
        return
            "The provider \(provider.info.name) was changed and would pass the \(isKey ? "key" : "token") to other"
            + " hosts or another program; log in again."
    }

    /// Stores the recipients to which the user agreed with a login.
    func storeTokenRecipients(of provider: any Provider, for id: AccountID) async throws {
        guard let provider = provider.installed else { return }
        let recipients = provider.tokenRecipients
        guard tokenRecipients[id] != recipients else { return }
        try await store.saveTokenRecipients(recipients, of: id)
        tokenRecipients[id] = recipients
    }
}
