/// A subscription to signals. It ends, and its match rule is removed, when the object is released.
@MainActor
package final class SignalSubscription {
    fileprivate let rule: MatchRule
    fileprivate let handler: (BusMessage) -> Void
    private let router: SignalRouter

    fileprivate init(
        _ rule: MatchRule, _ router: SignalRouter, _ handler: @escaping (BusMessage) -> Void
    ) {
        self.rule = rule
        self.handler = handler
        self.router = router
    }

    // The explicit `@MainActor` of the class is required: optimised importers lose the default isolation.
    isolated deinit { router.remove(ObjectIdentifier(self), rule) }
}

/// A router that delivers each signal to the matching subscriptions and tracks the owners of the well-known names among
/// their senders.
final class SignalRouter {
    /// Weak, because subscriptions retain the router and may outlive the connection.
    private weak let connection: BusConnection?
    /// The subscriptions in the order of their creation.
    private var entries: [Entry] = []
    /// The well-known names that subscriptions name as senders. Any client can send a signal directly to this
    /// connection, so the bus's check of the sender is not sufficient.
    private var senders: [BusName: Sender] = [:]

    private struct Entry {
        let id: ObjectIdentifier
        weak var subscription: SignalSubscription?
    }

    private struct Sender {
        var subscriptions = 0
        var owner: BusName?
    }

    init(connection: BusConnection) {
        self.connection = connection
        connection.onSignal = { [unowned self] in deliver($0) }
    }

    func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) -> SignalSubscription {
        let subscription = SignalSubscription(rule, self, handler)
        entries.append(Entry(id: ObjectIdentifier(subscription), subscription: subscription))
        connection?.addMatch(rule.text)
        if let name = rule.wellKnownSender {
            senders[name, default: Sender()].subscriptions += 1
            connection?.addMatch(Self.ownerRule(name).text)
        }
        return subscription
    }

    /// Records the current owner of `name`.
    func setOwner(_ owner: BusName?, of name: BusName) { senders[name]?.owner = owner }

    fileprivate func remove(_ id: ObjectIdentifier, _ rule: MatchRule) {
        entries.removeAll { $0.id == id }
        connection?.removeMatch(rule.text)
        guard let name = rule.wellKnownSender else { return }
        connection?.removeMatch(Self.ownerRule(name).text)
        senders[name]?.subscriptions -= 1
        if senders[name]?.subscriptions == 0 { senders[name] = nil }
    }

    private func deliver(_ signal: BusMessage) {
        if signal.sender == .bus, signal.member == "NameOwnerChanged",
            let change: (String, String, String) = try? signal.read(),
            let name = try? BusName(change.0)
        {
            setOwner(try? BusName(change.2), of: name)
        }
        // A handler may subscribe and unsubscribe. A subscription that has ended does not receive the signal.
        for entry in entries {
            guard let subscription = entry.subscription,
                isSent(signal, by: subscription.rule.sender), subscription.rule.matches(signal)
            else { continue }
            subscription.handler(signal)
        }
    }

    private func isSent(_ signal: BusMessage, by sender: BusName?) -> Bool {
        guard let sender, let actual = signal.sender else { return true }
        return actual == sender || actual == senders[sender]?.owner
    }

    fileprivate static func ownerRule(_ name: BusName) -> MatchRule {
        MatchRule(
            sender: .bus, interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            argument0: name.text)
    }
}

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
        try await subscribe(SignalRouter.ownerRule(name)) { signal in
            guard let change: (String, String, String) = try? signal.read() else { return }
            handler(try? BusName(change.2))
        }
    }
}
