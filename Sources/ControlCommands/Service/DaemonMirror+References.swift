internal import Contract
internal import DBus
internal import Quoting
internal import Translation

extension DaemonMirror {
    /// Finds the account for an account argument.
    ///
    /// - Parameters:
    ///   - reference: An ID, an unambiguous prefix of one, or an object path; nil for the default account.
    ///   - prefersLoggedIn: True if a prefix of one account that is logged in is unambiguous.
    /// - Returns: The account, logged in or not.
    /// - Throws: ``CommandFailure`` if there is no such account, or the reference is ambiguous or empty, as that of an empty
    ///   variable in a script.
    func account(
        _ reference: String?, prefersLoggedIn: Bool = false
    ) throws(CommandFailure) -> AccountProperties {
        guard let reference else {
            guard let account = accounts.first(where: { $0.path == defaultAccount }) else {
                try checkNotices()
                throw Self.noAccount
            }
            return account
        }
        guard !reference.isEmpty else {
            throw CommandFailure.tr("The account is empty.", status: .usage)
        }
        let id = String(reference.trimmingPrefix(ServiceName.accounts.text + "/"))
        if let account = accounts.first(where: { $0.id == id }) { return account }
        let matches = accounts.filter { $0.id.hasPrefix(id) }
        let loggedIn = prefersLoggedIn ? matches.filter(\.isLoggedIn) : []
        let candidates = loggedIn.count == 1 ? loggedIn : matches
        guard let account = candidates.first else {
            throw CommandFailure.tr(
                "There is no account “{account}”. “imagefeedctl accounts” lists the accounts.",
                ["account": id.excerpt])
        }
        guard candidates.count == 1 else {
            let ids = list(candidates.map(\.id))
            throw CommandFailure.tr(
                "The account “{account}” is ambiguous. Choose one of: {accounts}.",
                ["account": id.excerpt, "accounts": ids], status: .usage)
        }
        return account
    }

    /// The shortest references to the accounts, by their IDs: the ID of the provider, with as much of the account ID as
    /// distinguishes it from those of all other accounts.
    var shortIDs: [String: String] {
        let ids = accounts.map(\.id)
        let short = accounts.map { account in
            let id = account.id
            return (min(account.providerID.count, id.count)...id.count).lazy
                .map { String(id.prefix($0)) }
                .first { short in
                    !short.hasSuffix("_") && !ids.contains { $0 != id && $0.hasPrefix(short) }
                } ?? id
        }
        return Dictionary(zip(ids, short)) { first, _ in first }
    }

    /// Finds the logged-in account for an account argument.
    ///
    /// - Parameter reference: See ``account(_:)``.
    /// - Returns: The account.
    /// - Throws: ``CommandFailure`` if there is no such account, the prefix is ambiguous or the account is logged out.
    func loggedInAccount(_ reference: String?) throws(CommandFailure) -> AccountProperties {
        let account = try account(reference, prefersLoggedIn: true)
        guard account.isLoggedIn else {
            throw CommandFailure(
                .needsLogin, tr("{account} is logged out.", ["account": account.id]),
                account.loginAdvice)
        }
        return account
    }

    /// Returns the combined account.
    ///
    /// - Throws: ``CommandFailure`` if no account is logged in.
    func combinedAccount() throws(CommandFailure) -> AccountProperties {
        guard let combined, combined.isLoggedIn else {
            try checkNotices()
            throw Self.noAccount
        }
        return combined
    }

    /// Returns the ID of a photo in the combined account.
    ///
    /// - Throws: ``CommandFailure`` if there is no such account.
    func combinedID(
        of reference: PhotoReference, prefersLoggedIn: Bool = true
    ) throws(CommandFailure) -> String {
        "\(try account(reference.account, prefersLoggedIn: prefersLoggedIn).id)/\(reference.id)"
    }

    /// The notices about the file of the accounts, which may contain some that cannot be read. Empty if there is an
    /// account.
    var accountFileNotices: [String] {
        accounts.isEmpty ? notices.filter { $0.contains("data.sqlite") } : []
    }

    /// Fails with the notices about the file of the accounts.
    func checkNotices() throws(CommandFailure) {
        let reasons = accountFileNotices
        guard !reasons.isEmpty else { return }
        throw CommandFailure(.failed, reasons.joined(separator: " "))
    }

    private static let noAccount = CommandFailure.tr(
        """
        No account is logged in. Log in with “imagefeedctl login PROVIDER”; \
        “imagefeedctl providers” lists the providers.
        """, status: .needsLogin)
}
