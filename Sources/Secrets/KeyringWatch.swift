package import DBus

/// A watch that reports that a keyring was unlocked or has appeared, so that a new attempt to use it may succeed.
///
/// The watch subscribes to signals on an existing connection. It does not start a service and does not poll.
///
/// Source: freedesktop Secret Service API, `Collection.Locked`, `Service.CollectionChanged`.
@MainActor
package final class KeyringWatch {
    private let connection: BusConnection
    private var subscriptions: [SignalSubscription] = []

    private static let service: BusName = "org.freedesktop.secrets"
    private static let root: ObjectPath = "/org/freedesktop/secrets"

    /// Starts to watch, for the lifetime of the object.
    ///
    /// - Parameters:
    ///   - connection: The connection to the session bus.
    ///   - onChange: Called when a collection may have been unlocked or has appeared. The call may be unnecessary,
    ///     because some keyrings report only that a collection has changed.
    /// - Throws: The errors of ``BusConnection/subscribe(_:_:)``.
    package init(_ connection: BusConnection, onChange: @escaping () -> Void) async throws {
        self.connection = connection
        let owner = try await connection.watchOwner(of: Self.service) { owner in
            if owner != nil { onChange() }
        }
        // The signal of gnome-keyring.
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
        // The signals of KeePassXC for a database that was opened or unlocked.
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
