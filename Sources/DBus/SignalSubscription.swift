/// A subscription to signals. It ends, and its match rule is removed, when the object is released.
@MainActor
package final class SignalSubscription {
    fileprivate let rule: MatchRule
    fileprivate let handler: (BusMessage) -> Void
    /// Weak, because subscriptions may outlive the connection.
    private weak let connection: BusConnection?

    fileprivate init(
        _ rule: MatchRule, _ connection: BusConnection, _ handler: @escaping (BusMessage) -> Void
    ) {
        self.rule = rule
        self.handler = handler
        self.connection = connection
    }

    // The explicit `@MainActor` of the class is required: optimised importers lose the default isolation.
    isolated deinit { connection?.remove(ObjectIdentifier(self), rule) }
}

/// A weak reference to a subscription.
struct SubscriptionReference {
    let id: ObjectIdentifier
    weak let subscription: SignalSubscription?
}

/// A well-known name that subscriptions name as sender.
struct SignalSender {
    var subscriptions = 0
    var owner: BusName?
}

extension BusConnection {
    /// Begins a subscription without waiting until no signal is missed; see ``subscribe(_:_:)``.
    func addSubscription(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) -> SignalSubscription {
        let subscription = SignalSubscription(rule, self, handler)
        subscriptions.append(
            SubscriptionReference(id: ObjectIdentifier(subscription), subscription: subscription))
        addMatch(rule.text)
        if let name = rule.wellKnownSender {
            signalSenders[name, default: SignalSender()].subscriptions += 1
            addMatch(Self.ownerRule(name).text)
        }
        return subscription
    }

    fileprivate func remove(_ id: ObjectIdentifier, _ rule: MatchRule) {
        subscriptions.removeAll { $0.id == id }
        removeMatch(rule.text)
        guard let name = rule.wellKnownSender else { return }
        removeMatch(Self.ownerRule(name).text)
        signalSenders[name]?.subscriptions -= 1
        if signalSenders[name]?.subscriptions == 0 { signalSenders[name] = nil }
    }

    /// Delivers a signal to the matching subscriptions, and tracks the owners of the well-known names among their
    /// senders.
    func deliver(_ signal: BusMessage) {
        if signal.sender == .bus, signal.member == "NameOwnerChanged",
            let change: (String, String, String) = try? signal.read(),
            let name = try? BusName(change.0)
        {
            signalSenders[name]?.owner = try? BusName(change.2)
        }
        // A handler may subscribe and unsubscribe. A subscription that has ended does not receive the signal.
        for reference in subscriptions {
            guard let subscription = reference.subscription,
                isSent(signal, by: subscription.rule.sender), subscription.rule.matches(signal)
            else { continue }
            subscription.handler(signal)
        }
    }

    private func isSent(_ signal: BusMessage, by sender: BusName?) -> Bool {
        guard let sender, let actual = signal.sender else { return true }
        return actual == sender || actual == signalSenders[sender]?.owner
    }

    private static func ownerRule(_ name: BusName) -> MatchRule {
        MatchRule(
            sender: .bus, interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            argument0: name.text)
    }

    /// Delivers the signals that match `rule` to `handler`, in order, until the returned subscription is released.
    ///
    /// After this method returns, no signal is missed. A signal is not delivered if its sender is not the owner of
    /// `rule.sender`.
    package func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) async throws -> SignalSubscription {
        let subscription = addSubscription(rule, handler)
        if let name = rule.wellKnownSender {
            // In `onArrival`: the next message may already be a signal, or report another owner.
            _ = try await owner(of: name) { [self] in signalSenders[name]?.owner = $0 }
        }
        return subscription
    }

    /// Returns the connection that owns `name` now; nil if the name has no owner.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - onArrival: Receives the owner before any later message is handled.
    /// - Returns: The unique name of the owner.
    /// - Throws: The errors of ``call(_:timeout:onArrival:)``.
    package func owner(
        of name: BusName, onArrival: @escaping (BusName?) -> Void = { _ in }
    ) async throws -> BusName? {
        do {
            let reply = try await call(
                try BusMessage(.toBus("GetNameOwner"), name.text),
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
        try await subscribe(Self.ownerRule(name)) { signal in
            guard let change: (String, String, String) = try? signal.read() else { return }
            handler(try? BusName(change.2))
        }
    }
}
