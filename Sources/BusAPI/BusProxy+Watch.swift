internal import DBus

@MainActor
extension BusProxy {
    /// Calls `handler` with the changed properties of `interface` until the returned subscription is released.
    ///
    /// After this method returns, no change is missed; read the properties then.
    func watch(
        _ interface: InterfaceName, _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        let rule = MatchRule(
            sender: destination, path: path, interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", argument0: interface.text)
        return try await connection.subscribe(rule) { signal in
            // A signal with other arguments is not the standard one.
            guard
                let (_, changes, _): (String, [String: Variant], [String]) = try? signal.read()
            else { return }
            handler(changes)
        }
    }
}
