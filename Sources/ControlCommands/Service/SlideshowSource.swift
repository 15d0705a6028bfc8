internal import Contract
internal import DBus
internal import Translation

/// The value of `slideshow set --source`: `ACCOUNT[:SOURCE]` or `combined[:SOURCE]`, split at the first colon.
struct SlideshowSource: Equatable {
    /// The reason why a value is refused.
    enum Failure: Error, CustomStringConvertible {
        case noAccount

        var description: String { tr("The source has no account.") }
    }

    /// The account ID or a prefix of it; nil for the combined account.
    let account: String?
    /// The ID of a source; empty for the default source.
    let source: String

    init(account: String?, source: String) {
        self.account = account
        self.source = source
    }

    /// Parses a value.
    ///
    /// - Parameter text: The value. Its account must not be empty.
    /// - Throws: ``Failure``.
    init(_ text: String) throws(Failure) {
        let account = text.prefix { $0 != ":" }
        guard !account.isEmpty else { throw .noAccount }
        self.account = account == "combined" ? nil : String(account)
        source = String(text.dropFirst(account.count + 1))
    }

    /// Returns the object path of the account.
    ///
    /// - Throws: ``CommandFailure`` if there is no such account, or if it is logged out.
    func path(_ snapshot: DaemonMirror) throws(CommandFailure) -> ObjectPath {
        guard let account else { return ServiceName.combined }
        return try snapshot.loggedInAccount(account).path
    }
}
