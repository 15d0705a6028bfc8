extension BusConnection {
    /// Delivers the signals that match `rule` to `handler`, in order, until the returned subscription is released.
    ///
    /// After this method returns, no signal is missed. A signal is not delivered if its sender is not the owner of
    /// `rule.sender`.
    package func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) async throws -> SignalSubscription {
        let subscription = signals.subscribe(rule, handler)
        if let name = rule.wellKnownSender {
            // In `onArrival`: the next message may already be a signal, or report another owner.
            _ = try await owner(of: name) { [signals] in signals.setOwner($0, of: name) }
        }
        return subscription
    }

    /// Returns the connection that owns `name` now; nil if the name has no owner.
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

    /// Calls `handler` each time the owner of `name` changes, until the returned subscription is released.
    ///
    /// `handler` receives nil if the name has lost its owner.
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
