/// What the bus answered to a request for a name.
package enum NameRequest: Equatable {
    /// The name is ours.
    case owned
    /// Another connection has it and keeps it.
    case taken
}

extension BusConnection {
    /// Asks for a well-known name, which others may then take over.
    ///
    /// `replacing` takes it from an owner that allows this. `onLost` is called when somebody has
    /// taken it from us, not when we have given it back. Fails with ``BusError/reply(_:)`` when the
    /// bus forbids the name.
    ///
    /// Source: D-Bus specification, `RequestName`: flags 1 allow replacement, 2 replace, 4 do not
    /// queue.
    package func requestName(
        _ name: BusName, replacing: Bool, onLost: @escaping () -> Void
    ) async throws -> NameRequest {
        let loss = signals.subscribe(
            MatchRule(
                sender: .bus, interface: "org.freedesktop.DBus", member: "NameLost",
                argument0: name.text)
        ) { _ in onLost() }
        let flags: UInt32 = 1 | 4 | (replacing ? 2 : 0)
        let result: UInt32 = try await call(
            .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName"),
            name.text, flags)
        // 1: owned now, 4: owned before.
        guard result == 1 || result == 4 else { return .taken }
        nameLossHandlers[name.text] = loss
        return .owned
    }

    /// Gives a name back, so that it can be owned, or activated, anew.
    package func releaseName(_ name: BusName) async throws {
        nameLossHandlers[name.text] = nil
        let _: UInt32 = try await call(
            .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName"),
            name.text)
    }
}
