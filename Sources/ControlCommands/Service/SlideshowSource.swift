internal import ArgumentParser
internal import BusAPI
internal import DBus

/// The value of `slideshow set --source`: `ACCOUNT[:SOURCE]` or `combined[:SOURCE]`, split at the first colon.
struct SlideshowSource: Equatable, ExpressibleByArgument {
    /// The account ID or a prefix of it; nil for the combined account.
    let account: String?
    /// The ID of a source; empty for the default source.
    let source: String

    init(account: String?, source: String) {
        self.account = account
        self.source = source
    }

    /// - Parameter argument: The value. Its account must not be empty.
    init?(argument: String) {
        let account = argument.prefix { $0 != ":" }
        guard !account.isEmpty else { return nil }
        self.account = account == "combined" ? nil : String(account)
        source = String(argument.dropFirst(account.count + 1))
    }

    /// Returns the object path of the account.
    ///
    /// - Throws: ``CommandFailure`` if there is no such account, or if it is logged out.
    func path(_ snapshot: ServiceSnapshot) throws(CommandFailure) -> ObjectPath {
        guard let account else { return ServiceName.combined }
        return try snapshot.loggedInAccount(account).path
    }
}
