internal import DBus

/// The clients whose disconnection from the bus is reported. Each has a match rule.
final class FollowedClients {
    private let connection: BusConnection
    private let onLeave: (BusName) -> Void
    /// The subscription of each client; nil while it is being created.
    private var clients: [BusName: SignalSubscription?] = [:]

    /// - Parameters:
    ///   - connection: The connection to the bus of the clients.
    ///   - onLeave: Called when a client has disconnected.
    init(_ connection: BusConnection, onLeave: @escaping (BusName) -> Void) {
        self.connection = connection
        self.onLeave = onLeave
    }

    /// Returns true if a client is followed.
    func contains(_ client: BusName) -> Bool { clients[client] != nil }

    /// Follows a client. Returns when its match rule exists, or when it has disconnected.
    func add(_ client: BusName) async {
        guard clients[client] == nil else { return }
        clients[client] = .some(nil)
        do {
            let subscription = try await connection.watchOwner(of: client) { [weak self] owner in
                if owner == nil { self?.leave(client) }
            }
            guard clients[client] != nil else { return }
            clients[client] = subscription
            // The client may have disconnected before the match rule was added.
            if try await connection.owner(of: client) == nil { leave(client) }
        } catch {
            // Without a bus connection there are no clients.
            leave(client)
        }
    }

    /// Stops following a client. Its disconnection is not reported.
    func remove(_ client: BusName) { clients[client] = nil }

    private func leave(_ client: BusName) {
        guard clients.removeValue(forKey: client) != nil else { return }
        onLeave(client)
    }
}
