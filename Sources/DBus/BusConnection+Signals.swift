extension BusConnection {
    /// Delivers the signals that fit `rule` to `handler`, in their order, until the result is
    /// dropped.
    ///
    /// When this returns, no later signal is missed. A signal whose sender only claims to be
    /// `rule.sender` is not delivered.
    package func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) async throws -> SignalSubscription {
        let subscription = signals.subscribe(rule, handler)
        if let name = rule.wellKnownSender {
            // On arrival: the next message may already be a signal, or tell of another owner.
            _ = try await owner(of: name) { [signals] in signals.setOwner($0, of: name) }
        }
        return subscription
    }

    /// The connection that owns `name` now; nil for none.
    package func owner(of name: BusName) async throws -> BusName? {
        try await owner(of: name) { _ in }
    }

    private func owner(
        of name: BusName, onArrival: @escaping (BusName?) -> Void
    ) async throws -> BusName? {
        let header = MessageHeader.methodCall(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner")
        do {
            let reply = try await call(
                try BusMessage(header, name.text),
                onArrival: { reply in
                    let owner: String? = try? reply.read()
                    onArrival(reply.kind == .error ? nil : owner.map(BusName.init(unchecked:)))
                })
            let owner: String = try reply.read()
            return BusName(unchecked: owner)
        } catch BusError.reply(let error) where error.name == .nameHasNoOwner {
            return nil
        }
    }

    /// Calls `handler` whenever `name` gets another owner (or none, nil), until the result is
    /// dropped.
    package func watchOwner(
        of name: BusName, _ handler: @escaping (BusName?) -> Void
    ) async throws -> SignalSubscription {
        try await subscribe(
            MatchRule(
                sender: .bus, interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
                argument0: name.text)
        ) { signal in
            guard let change: (String, String, String) = try? signal.read() else { return }
            handler(try? BusName(change.2))
        }
    }
}
