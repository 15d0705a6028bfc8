internal import DBus
internal import Engine
internal import ProviderKit

/// The clients that watch sources. A match rule per client detects its disconnection from the bus.
final class WatchingClients {
    private let engine: Engine
    private let connection: BusConnection
    /// The subscription of each client; nil while it is being created.
    private var clients: [BusName: SignalSubscription?] = [:]

    init(_ engine: Engine, _ connection: BusConnection) {
        self.engine = engine
        self.connection = connection
    }

    /// Records that a client has read the first page of a source.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - source: The source, with its actual ID.
    ///   - client: The unique name of the client; nil if the connection has no bus.
    func firstPageRead(_ account: Account, _ source: SourceID, by client: BusName?) {
        guard let client, account.watch(source, by: .client(client.text)),
            clients[client] == nil
        else { return }
        clients[client] = .some(nil)
        Task { await follow(client) }
    }

    /// Subscribes to the disconnection of the client from the bus.
    private func follow(_ client: BusName) async {
        do {
            let subscription = try await connection.watchOwner(of: client) { [weak self] owner in
                if owner == nil { self?.remove(client) }
            }
            clients[client] = subscription
            // The client may have disconnected before the match rule was added.
            if try await connection.owner(of: client) == nil { remove(client) }
        } catch {
            // Without a bus connection there are no clients.
            remove(client)
        }
    }

    private func remove(_ client: BusName) {
        clients[client] = nil
        engine.unwatch(.client(client.text))
    }
}
