/// Which signals a subscription is about; nil is any.
nonisolated package struct MatchRule: Hashable, Sendable {
    package var sender: BusName?
    package var path: ObjectPath?
    /// The object at this path and all below it.
    package var pathNamespace: ObjectPath?
    package var interface: InterfaceName?
    package var member: MemberName?
    /// The first argument, a string.
    package var argument0: String?

    package init(
        sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
        interface: InterfaceName? = nil, member: MemberName? = nil, argument0: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.argument0 = argument0
    }

    /// The rule as the bus reads it.
    ///
    /// Source: D-Bus specification, "Match Rules".
    var text: String {
        var parts = ["type='signal'"]
        if let sender { parts.append("sender='\(sender)'") }
        if let path { parts.append("path='\(path)'") }
        if let pathNamespace { parts.append("path_namespace='\(pathNamespace)'") }
        if let interface { parts.append("interface='\(interface)'") }
        if let member { parts.append("member='\(member)'") }
        if let argument0 {
            // An apostrophe cannot stand inside the quotes.
            parts.append(
                "arg0='\(argument0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
            )
        }
        return parts.joined(separator: ",")
    }

    /// Whether `signal` fits, apart from its sender.
    func matches(_ signal: BusMessage) -> Bool {
        if let member, signal.member != member { return false }
        if let interface, signal.interface != interface { return false }
        if let path, signal.path != path { return false }
        if let pathNamespace, signal.path != pathNamespace,
            signal.path?.elements(below: pathNamespace) == nil
        {
            return false
        }
        guard let argument0 else { return true }
        var decoder = Decoder(signal)
        return (try? String(from: &decoder)) == argument0
    }
}

/// Signals are delivered as long as this object lives; then its match rule is taken back.
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

    isolated deinit { router.remove(self) }
}

/// Tells each subscription of the signals that fit it, and knows who owns the names they name as senders.
final class SignalRouter {
    private unowned let connection: BusConnection
    private var subscriptions: [ObjectIdentifier: Unowned] = [:]
    /// The owners of well-known names that a subscription names: anybody can send a signal to us
    /// directly, so the sender is checked here, too.
    private var owners: [BusName: BusName] = [:]

    private struct Unowned { unowned let subscription: SignalSubscription }

    init(connection: BusConnection) {
        self.connection = connection
        connection.onSignal = { [unowned self] in deliver($0) }
    }

    func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) -> SignalSubscription {
        let subscription = SignalSubscription(rule, self, handler)
        subscriptions[ObjectIdentifier(subscription)] = Unowned(subscription: subscription)
        connection.addMatch(rule.text)
        if let name = rule.sender, !name.isUnique, name != .bus {
            connection.addMatch(Self.ownerRule(name).text)
        }
        return subscription
    }

    /// Remembers who owns `name` now.
    func setOwner(_ owner: BusName?, of name: BusName) { owners[name] = owner }

    fileprivate func remove(_ subscription: SignalSubscription) {
        subscriptions[ObjectIdentifier(subscription)] = nil
        connection.removeMatch(subscription.rule.text)
        if let name = subscription.rule.sender, !name.isUnique, name != .bus {
            connection.removeMatch(Self.ownerRule(name).text)
        }
    }

    private func deliver(_ signal: BusMessage) {
        if signal.sender == .bus, signal.member == "NameOwnerChanged",
            let change: (String, String, String) = try? signal.read(),
            let name = try? BusName(change.0)
        {
            owners[name] = try? BusName(change.2)
        }
        // A handler may subscribe or unsubscribe.
        for (id, entry) in subscriptions.map({ ($0.key, $0.value.subscription) })
        where subscriptions[id] != nil && isSent(signal, by: entry.rule.sender) {
            if entry.rule.matches(signal) { entry.handler(signal) }
        }
    }

    private func isSent(_ signal: BusMessage, by sender: BusName?) -> Bool {
        guard let sender, let actual = signal.sender else { return true }
        return actual == sender || actual == owners[sender]
    }

    private static func ownerRule(_ name: BusName) -> MatchRule {
        MatchRule(
            sender: .bus, interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            argument0: name.text)
    }
}

extension BusConnection {
    /// Delivers the signals that fit `rule` to `handler`, in their order, until the result is dropped.
    ///
    /// When this returns, no later signal is missed. A signal whose sender only claims to be
    /// `rule.sender` is not delivered.
    package func subscribe(
        _ rule: MatchRule, _ handler: @escaping (BusMessage) -> Void
    ) async throws -> SignalSubscription {
        let subscription = signals.subscribe(rule, handler)
        if let name = rule.sender, !name.isUnique, name != .bus {
            signals.setOwner(try await owner(of: name), of: name)
        }
        return subscription
    }

    /// The connection that owns `name` now; nil for none.
    package func owner(of name: BusName) async throws -> BusName? {
        do {
            let owner: String = try await call(
                .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner"),
                name.text)
            return BusName(unchecked: owner)
        } catch BusError.reply(let error) where error.name == .nameHasNoOwner {
            return nil
        }
    }

    /// Calls `handler` whenever `name` gets another owner (or none, nil), until the result is dropped.
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
