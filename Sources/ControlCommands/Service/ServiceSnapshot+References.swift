internal import BusAPI
internal import DBus
internal import Quoting

extension ServiceSnapshot {
    /// Finds the account for an account argument.
    ///
    /// - Parameter reference: An ID, an unambiguous prefix of one, or an object path; nil or empty for the default
    ///   account.
    /// - Returns: The account, logged in or not.
    /// - Throws: ``CommandFailure`` if there is no such account or the prefix is ambiguous.
    func account(_ reference: String?) throws(CommandFailure) -> AccountRecord {
        guard let reference, !reference.isEmpty else {
            guard let account = accounts.first(where: { $0.path == defaultAccount }) else {
                throw CommandFailure(
                    .needsLogin,
                    "No account is logged in. Log in with “imagefeedctl login PROVIDER”; "
                        + "“imagefeedctl providers” lists the providers."
                )
            }
            return account
        }
        let prefix = ServiceName.accounts.text + "/"
        let id = reference.hasPrefix(prefix) ? String(reference.dropFirst(prefix.count)) : reference
        if let account = accounts.first(where: { $0.id == id }) { return account }
        let candidates = accounts.filter { $0.id.hasPrefix(id) }
        guard let account = candidates.first else {
            throw CommandFailure(
                .failed,
                "There is no account “\(id.excerpt)”. “imagefeedctl accounts” lists the accounts.")
        }
        guard candidates.count == 1 else {
            let ids = candidates.map(\.id).joined(separator: ", ")
            throw CommandFailure(
                .usage, "The account “\(id.excerpt)” is ambiguous. Choose one of: \(ids).")
        }
        return account
    }

    /// Finds the logged-in account for an account argument.
    ///
    /// - Parameter reference: See ``account(_:)``.
    /// - Returns: The account.
    /// - Throws: ``CommandFailure`` if there is no such account, the prefix is ambiguous or the account is logged out.
    func loggedInAccount(_ reference: String?) throws(CommandFailure) -> AccountRecord {
        let account = try account(reference)
        guard account.isLoggedIn else {
            throw CommandFailure(
                .needsLogin,
                "\(account.id) is logged out. \(account.loginAdvice)")
        }
        return account
    }

    /// Returns the provider with an ID.
    ///
    /// - Throws: ``CommandFailure`` if there is no such provider.
    func provider(_ id: String) throws(CommandFailure) -> ProviderRecord {
        guard let provider = providers.first(where: { $0.id == id }) else {
            throw CommandFailure(
                .failed,
                "There is no provider “\(id.excerpt)”. “imagefeedctl providers” lists the providers."
            )
        }
        return provider
    }
}
