internal import Contract
internal import DBus

/// The connection of a command to the daemon. The bus starts the daemon if it is not running.
@MainActor
struct ServiceSession {
    let client: ServiceClient

    /// Connects to the session bus.
    ///
    /// - Throws: ``BusError/noBus(_:)`` if there is no session bus.
    init() throws { client = ServiceClient(try BusConnection.session()) }

    /// Returns the current state of the daemon.
    func snapshot() async throws -> DaemonMirror {
        try await client.snapshot()
    }

    /// Finds a logged-in account.
    ///
    /// - Parameter reference: See ``DaemonMirror/account(_:)``.
    /// - Returns: The account and its client.
    /// - Throws: ``CommandFailure`` if there is no such account or it is logged out.
    func feed(
        _ reference: String?
    ) async throws -> (client: AccountClient, account: AccountProperties) {
        let account = try await snapshot().loggedInAccount(reference)
        return (client.account(account.path), account)
    }

    /// Finds a logged-in account or the combined account.
    ///
    /// - Parameter option: The options of the command.
    /// - Returns: The client, the default source, if it is known, and the account, unless it is the combined one.
    /// - Throws: ``CommandFailure`` if there is no such account, or if no account is logged in.
    func feed(
        _ option: CombinedAccountOption
    ) async throws -> (client: AccountClient, defaultSource: String?, account: AccountProperties?) {
        guard option.combined else {
            let (client, account) = try await feed(option.accountOption.account)
            return (client, account.defaultSource, account)
        }
        let combined = try await snapshot().combinedAccount()
        return (client.combined, combined.defaultSource, nil)
    }

    /// Returns the problems for which photos of an account may be missing, after its photos were read.
    ///
    /// - Parameter account: The account; nil for the combined account.
    /// - Returns: The problems; none if the daemon cannot be reached.
    func problems(of account: AccountProperties?) async -> [AccountProblem] {
        guard let snapshot = try? await snapshot() else { return [] }
        guard let account else { return snapshot.combinedProblems }
        return [snapshot.feedProblem(of: account.path)].compactMap(\.self)
    }

    /// Finds the photo of a photo argument.
    ///
    /// - Parameter argument: The photo; without one, the current photo of the slideshow.
    /// - Returns: The photo and its logged-in account.
    /// - Throws: ``CommandFailure`` if there is no such account, it is logged out, or there is no current photo.
    func photo(_ argument: PhotoArgument) async throws -> SelectedPhoto {
        let snapshot = try await snapshot()
        let reference = try argument.reference ?? snapshot.currentPhoto()
        let account = try snapshot.loggedInAccount(reference.account)
        return SelectedPhoto(
            id: reference.id, account: account, client: client.account(account.path),
            snapshot: snapshot)
    }
}

/// The photo that a command uses.
struct SelectedPhoto {
    /// The ID of the photo within its account.
    let id: String
    let account: AccountProperties
    let client: AccountClient
    let snapshot: DaemonMirror
}
