import TestSupport
import Testing

@testable import DBus

@Suite struct MatchRuleTests {
    @Test func `a match rule has the syntax of the bus`() {
        #expect(MatchRule().text == "type='signal'")
        #expect(
            MatchRule(
                sender: "a.b", path: "/c", interface: "d.e", member: "F", argument0: "it's"
            ).text
                == #"type='signal',sender='a.b',path='/c',interface='d.e',member='F',arg0='it'\''s'"#
        )
        #expect(MatchRule(pathNamespace: "/c").text == "type='signal',path_namespace='/c'")
    }

    @Test func `a match rule selects matching signals`() throws {
        let signal = try BusMessage(.signal("/c/d", "d.e", "F"), "x")
        for rule in [
            MatchRule(), MatchRule(path: "/c/d"), MatchRule(pathNamespace: "/c"),
            MatchRule(pathNamespace: "/"), MatchRule(interface: "d.e"), MatchRule(member: "F"),
            MatchRule(argument0: "x"),
        ] {
            #expect(rule.matches(signal), "\(rule.text)")
        }
        for rule in [
            MatchRule(path: "/c"), MatchRule(pathNamespace: "/c/d/e"), MatchRule(interface: "d.f"),
            MatchRule(member: "G"), MatchRule(argument0: "y"), MatchRule(pathNamespace: "/cc"),
        ] {
            #expect(!rule.matches(signal), "\(rule.text)")
        }
        #expect(!MatchRule(argument0: "").matches(try BusMessage(.test)))
    }
}

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
final class SignalsTests {
    private let seen = Observed<[String]>()
    private let bus: PrivateBus
    /// The subscriptions that last as long as the test.
    private var subscriptions: [SignalSubscription] = []

    init() throws { bus = try PrivateBus.current }

    @Test func `signals are delivered until the subscription is released`() async throws {
        let (sender, receiver) = (try bus.connect(), try bus.connect())
        var first: SignalSubscription? = try await subscribe(receiver, MatchRule(interface: "a.b"))
        let second = try await receiver.subscribe(MatchRule(interface: "a.b")) { _ in }
        try emit(sender, "1")
        try emit(sender, "2")
        #expect(try await seen.elements(2) == ["1", "2"])
        first = nil
        try emit(sender, "3")
        first = try await subscribe(receiver, MatchRule(member: "Other"))
        try emit(sender, "4")
        try emit(sender, "5", member: "Other")
        #expect(try await seen.elements(3) == ["1", "2", "5"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a match rule is removed with its last subscription`() async throws {
        let receiver = try PrivateBus.current.connect()
        var first: SignalSubscription? = try await subscribe(receiver, MatchRule(sender: "a.b"))
        var second: SignalSubscription? = try await subscribe(receiver, MatchRule(sender: "a.b"))
        #expect(try await rules(of: receiver).count == 2)
        first = nil
        #expect(try await rules(of: receiver).count == 2)
        second = nil
        #expect(try await rules(of: receiver).isEmpty)
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a signal of a forged sender is not delivered`() async throws {
        let (owner, forger, receiver) = (try bus.connect(), try bus.connect(), try bus.connect())
        _ = try await owner.requestName("a.b", replacing: false) {}
        subscriptions = [
            try await subscribe(receiver, MatchRule(sender: "a.b")),
            try await subscribe(receiver, MatchRule(sender: owner.uniqueName)),
        ]
        try emit(forger, "forged", to: receiver.uniqueName)
        forger.send(
            try BusMessage(
                .signal(
                    "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
                    to: receiver.uniqueName),
                "a.b", owner.uniqueName.text, forger.uniqueName.text))
        try await waitForBus(forger)
        try emit(forger, "forged again", to: receiver.uniqueName)
        try await waitForBus(forger)
        try emit(owner, "real")
        #expect(try await seen.elements(2) == ["real", "real"])
    }

    @Test func `a subscription follows its sender to a new owner`() async throws {
        let (first, second, receiver) = (try bus.connect(), try bus.connect(), try bus.connect())
        subscriptions.append(try await subscribe(receiver, MatchRule(sender: "a.b")))
        _ = try await first.requestName("a.b", replacing: false) {}
        try emit(first, "1")
        _ = try await second.requestName("a.b", replacing: true) {}
        try emit(second, "2")
        // Not delivered, because the sender does not own the name any more.
        try emit(first, "3", to: receiver.uniqueName)
        try await waitForBus(first)
        try emit(second, "4")
        #expect(try await seen.elements(3) == ["1", "2", "4"])
    }

    @Test func `a change of the owner during the subscription is not missed`() async throws {
        let (first, second, receiver) = (try bus.connect(), try bus.connect(), try bus.connect())
        _ = try await first.requestName("a.b", replacing: false) {}
        let subscribing = Task.immediate { try await subscribe(receiver, MatchRule(sender: "a.b")) }
        receiver.flush()
        second.send(
            try BusMessage(
                .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName"),
                "a.b", 2 as UInt32))
        try emit(second, "1", to: receiver.uniqueName)
        second.flush()
        // Connecting takes a round trip, so the bus has received the messages above afterwards.
        _ = try bus.connect()
        subscriptions.append(try await subscribing.value)
        try emit(second, "2")
        #expect(try await seen.elements(2) == ["1", "2"])
    }

    @Test func `a handler can subscribe and unsubscribe`() async throws {
        let (sender, receiver) = (try bus.connect(), try bus.connect())
        final class Storage { var subscriptions: [SignalSubscription] = [] }
        let storage = Storage()
        for _ in 0..<10 {
            storage.subscriptions.append(
                try await receiver.subscribe(MatchRule(member: "S")) { [seen] _ in
                    seen.append("x")
                    storage.subscriptions = [
                        receiver.addSubscription(MatchRule(member: "S")) { _ in seen.append("y") }
                    ]
                })
        }
        try emit(sender, "")
        try emit(sender, "")
        #expect(try await seen.elements(2) == ["x", "y"])
        storage.subscriptions = []
    }

    @Test func `a signal after a reply is handled after the code that awaits it`() async throws {
        let (peer, receiver) = (try bus.connect(), try bus.connect())
        subscriptions.append(try await subscribe(receiver, MatchRule(interface: "a.b")))
        // Both messages are sent in one turn of the main queue, so most of the time they also arrive in one.
        peer.onMethodCall = { [unowned peer] call in
            let header = MessageHeader(
                kind: .methodReturn, destination: call.sender, replySerial: call.serial)
            for message in [
                try? BusMessage(header, "reply"),
                try? BusMessage(.signal("/", "a.b", "S"), "signal"),
            ] {
                message.map(peer.send)
            }
        }
        for _ in 0..<50 {
            let reply: String = try await receiver.call(
                .methodCall(peer.uniqueName, "/", "a.b", "M"))
            seen.append(reply)
        }
        let expected = Array(repeating: ["reply", "signal"], count: 50).flatMap(\.self)
        let elements = try await seen.elements(100)
        #expect(elements == expected)
        peer.onMethodCall = nil
    }

    @Test func `the owner of a name is watched`() async throws {
        let (owner, receiver) = (try bus.connect(), try bus.connect())
        let owners = Observed<[BusName?]>()
        subscriptions.append(try await receiver.watchOwner(of: "a.b") { owners.append($0) })
        #expect(try await receiver.owner(of: "a.b") == nil)
        _ = try await owner.requestName("a.b", replacing: false) {}
        #expect(try await receiver.owner(of: "a.b") == owner.uniqueName)
        try await owner.releaseName("a.b")
        #expect(try await owners.elements(2) == [owner.uniqueName, nil])
    }

    private func subscribe(
        _ connection: BusConnection, _ rule: MatchRule
    ) async throws -> SignalSubscription {
        try await connection.subscribe(rule) { [seen] signal in
            if let text: String = try? signal.read() { seen.append(text) }
        }
    }

    private func emit(
        _ connection: BusConnection, _ text: String, member: MemberName = "S",
        to destination: BusName? = nil
    ) throws {
        connection.send(try BusMessage(.signal("/", "a.b", member, to: destination), text))
    }

    /// Waits until the bus has handled all messages of `connection`.
    private func waitForBus(_ connection: BusConnection) async throws {
        _ = try await connection.owner(of: .bus)
    }

    private func rules(of connection: BusConnection) async throws -> [String] {
        let rules: [String: [String]] = try await connection.call(
            .methodCall(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                "GetAllMatchRules"))
        return rules[connection.uniqueName.text] ?? []
    }
}
