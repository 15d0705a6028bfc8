package import DBus

extension BusConnection {
    /// Observes on the session bus that a keyring was unlocked or has appeared, so that a new attempt to use it may
    /// succeed.
    ///
    /// It does not start a service and does not poll.
    ///
    /// Source: freedesktop Secret Service API, `Collection.Locked`, `Service.CollectionChanged`.
    ///
    /// - Parameter onChange: Called when a collection may have been unlocked or has appeared. The call may be
    ///   unnecessary, because some keyrings report only that a collection has changed.
    /// - Returns: The subscriptions, which end when they are released.
    /// - Throws: The errors of ``subscribe(_:_:)``.
    @MainActor
    package func watchKeyring(onChange: @escaping () -> Void) async throws -> [SignalSubscription] {
        let service: BusName = "org.freedesktop.secrets"
        let root: ObjectPath = "/org/freedesktop/secrets"
        let owner = try await watchOwner(of: service) { owner in
            if owner != nil { onChange() }
        }
        // The signal of gnome-keyring.
        let locked = try await subscribe(
            MatchRule(
                sender: service, pathNamespace: root,
                interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                argument0: "org.freedesktop.Secret.Collection")
        ) { signal in
            guard let change: (String, [String: Variant], [String]) = try? signal.read(),
                change.1["Locked"]?.bool == false
            else { return }
            onChange()
        }
        var subscriptions = [owner, locked]
        // The signals of KeePassXC for a database that was opened or unlocked.
        for member: MemberName in ["CollectionCreated", "CollectionChanged"] {
            subscriptions.append(
                try await subscribe(
                    MatchRule(
                        sender: service, path: root,
                        interface: "org.freedesktop.Secret.Service", member: member)
                ) { _ in onChange() })
        }
        return subscriptions
    }
}
