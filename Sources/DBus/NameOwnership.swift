extension BusConnection {
    /// Requests a well-known name and allows other connections to replace the owner.
    ///
    /// - Parameters:
    ///   - name: The well-known name.
    ///   - replacing: True to replace an owner that allows it.
    ///   - onLost: Called when another connection has taken over the name; not called after ``releaseName(_:)``.
    /// - Returns: True if this connection owns the name; false if another one does and does not allow replacement.
    /// - Throws: ``BusError/reply(_:)`` if the policy of the bus forbids the name.
    ///
    /// Source: D-Bus specification, `RequestName`: flags 1 allow replacement, 2 replace, 4 do not queue.
    package func requestName(
        _ name: BusName, replacing: Bool, onLost: @escaping () -> Void
    ) async throws -> Bool {
        let loss = addSubscription(
            MatchRule(
                sender: .bus, interface: "org.freedesktop.DBus", member: "NameLost",
                argument0: name.text)
        ) { _ in onLost() }
        let flags: UInt32 = 1 | 4 | (replacing ? 2 : 0)
        let result: UInt32 = try await call(.toBus("RequestName"), name.text, flags)
        // 1: the name is owned now, 4: it was owned before.
        guard result == 1 || result == 4 else { return false }
        nameLossHandlers[name.text] = loss
        return true
    }

    /// Releases a name, so that another connection can own it or the bus can activate it.
    package func releaseName(_ name: BusName) async throws {
        nameLossHandlers[name.text] = nil
        let _: UInt32 = try await call(.toBus("ReleaseName"), name.text)
    }

    /// Returns the process ID of a connection; nil if the bus does not know it.
    package func processID(of name: BusName) async throws -> Int32? {
        do {
            let id: UInt32 = try await call(.toBus("GetConnectionUnixProcessID"), name.text)
            return Int32(exactly: id)
        } catch BusError.reply {
            return nil
        }
    }
}

nonisolated extension MessageHeader {
    /// Returns the header of a call to the bus itself.
    static func toBus(_ member: MemberName) -> MessageHeader {
        .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member)
    }
}
