internal import BusAPI
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
    func snapshot() async throws -> ServiceSnapshot {
        ServiceSnapshot(
            manager: try await client.manager.properties(), objects: try await client.objects())
    }

    /// Finds a logged-in account.
    ///
    /// - Parameter reference: See ``ServiceSnapshot/account(_:)``.
    /// - Returns: The account and its client.
    /// - Throws: ``CommandFailure`` if there is no such account or it is logged out.
    func feed(
        _ reference: String?
    ) async throws -> (client: AccountClient, account: AccountRecord) {
        let account = try await snapshot().loggedInAccount(reference)
        return (client.account(account.path), account)
    }
}
