package import DBus

/// Tells when it is worth asking the keyring again: it was unlocked, or one has appeared.
///
/// By signals on a connection that is there anyway; nothing is started, and nothing is polled.
///
/// Source: freedesktop Secret Service API, `Collection.Locked`, `Service.CollectionChanged`.
@MainActor
package final class KeyringWatch {
    private let connection: BusConnection
    private var subscriptions: [SignalSubscription] = []

    private static let service: BusName = "org.freedesktop.secrets"
    private static let root: ObjectPath = "/org/freedesktop/secrets"

    /// Watches as long as it lives.
    ///
    /// - Parameters:
    ///   - connection: To the session bus.
    ///   - onChange: Called when something was unlocked or has appeared. Sometimes for nothing: some keyrings
    ///     say only that a collection is another than before.
    /// - Throws: What ``BusConnection/subscribe(_:_:)`` throws.
    package init(_ connection: BusConnection, onChange: @escaping () -> Void) async throws {
        self.connection = connection
        let owner = try await connection.watchOwner(of: Self.service) { owner in
            if owner != nil { onChange() }
        }
        // gnome-keyring.
        let locked = try await connection.subscribe(
            MatchRule(
                sender: Self.service, pathNamespace: Self.root,
                interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                argument0: "org.freedesktop.Secret.Collection")
        ) { signal in
            guard let change: (String, [String: Variant], [String]) = try? signal.read(),
                change.1["Locked"]?.bool == false
            else { return }
            onChange()
        }
        subscriptions = [owner, locked]
        // KeePassXC, for a database that was opened or unlocked.
        for member: MemberName in ["CollectionCreated", "CollectionChanged"] {
            subscriptions.append(
                try await connection.subscribe(
                    MatchRule(
                        sender: Self.service, path: Self.root,
                        interface: "org.freedesktop.Secret.Service", member: member)
                ) { _ in onChange() })
        }
    }
}
