internal import BusAPI
internal import DBus

/// The daemon, as one command talks to it. The bus starts it if it is not running.
@MainActor
struct ServiceSession {
    let client: ServiceClient

    /// Connects to the session bus.
    ///
    /// - Throws: ``BusError/noBus(_:)``.
    init() throws { client = ServiceClient(try BusConnection.session()) }

    /// Everything that the daemon tells of itself.
    func snapshot() async throws -> ServiceSnapshot {
        ServiceSnapshot(
            manager: try await client.manager.properties(), objects: try await client.objects())
    }

    /// The account that `reference` means, and how to call it.
    ///
    /// - Throws: ``CommandFailure`` when there is none, or when it is logged out.
    func feed(
        _ reference: String?
    ) async throws -> (client: AccountClient, account: AccountRecord) {
        let account = try await snapshot().loggedInAccount(reference)
        return (client.account(account.path), account)
    }
}
