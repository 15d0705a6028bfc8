internal import DBus

@MainActor
extension BusProxy {
    /// Calls `handler` with the properties of `interface` that change, until the result is dropped.
    ///
    /// Who reads the properties after this has returned misses nothing.
    func watch(
        _ interface: InterfaceName, _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        let rule = MatchRule(
            sender: destination, path: path, interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", argument0: interface.text)
        return try await connection.subscribe(rule) { signal in
            // Arguments of other types than the standard's are a signal of another standard.
            guard
                let (_, changes, _): (String, [String: Variant], [String]) = try? signal.read()
            else { return }
            handler(changes)
        }
    }
}
