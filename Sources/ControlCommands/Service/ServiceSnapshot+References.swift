internal import BusAPI
internal import DBus
internal import Quoting

extension ServiceSnapshot {
    /// The account that a person means.
    ///
    /// - Parameter reference: An id, an unambiguous beginning of one, or an object path; nil for the
    ///   default account.
    /// - Returns: The account, logged in or not.
    /// - Throws: ``CommandFailure``, which says what to type instead.
    func account(_ reference: String?) throws(CommandFailure) -> AccountRecord {
        guard let reference, !reference.isEmpty else {
            guard let account = accounts.first(where: { $0.path == defaultAccount }) else {
                throw CommandFailure(
                    .needsLogin,
                    "No account is logged in. Log in with “imagefeedctl login PROVIDER”; “imagefeedctl providers” lists them."
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
                .failed, "There is no account “\(id.excerpt)”; “imagefeedctl accounts” lists them.")
        }
        guard candidates.count == 1 else {
            let ids = candidates.map(\.id).joined(separator: ", ")
            throw CommandFailure(.usage, "“\(id.excerpt)” may mean \(ids); say more of it.")
        }
        return account
    }

    /// The account that a person means, which must be logged in.
    ///
    /// - Parameter reference: See ``account(_:)``.
    /// - Returns: The account.
    /// - Throws: ``CommandFailure``, which says what to type instead.
    func loggedInAccount(_ reference: String?) throws(CommandFailure) -> AccountRecord {
        let account = try account(reference)
        guard account.isLoggedIn else {
            throw CommandFailure(
                .needsLogin,
                "\(account.id) is logged out. \(account.loginAdvice)")
        }
        return account
    }

    /// The provider with this id.
    ///
    /// - Throws: ``CommandFailure``, which says where the ids are.
    func provider(_ id: String) throws(CommandFailure) -> ProviderRecord {
        guard let provider = providers.first(where: { $0.id == id }) else {
            throw CommandFailure(
                .failed,
                "There is no provider “\(id.excerpt)”; “imagefeedctl providers” lists them.")
        }
        return provider
    }
}
