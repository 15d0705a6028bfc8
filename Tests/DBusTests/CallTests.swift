import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct CallTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `a call to a missing name fails with ServiceUnknown`() async throws {
        let client = try PrivateBus.current.connect()
        let missing = BusProxy(client, "org.imagefeed.Missing", .test)
        let name = await errorName { try await missing.perform(.test, "Add") }
        #expect(name == .serviceUnknown)
    }

    @Test func `a call to a service that cannot start fails`() async throws {
        let bus = try PrivateBus.current
        try bus.addService("org.imagefeed.Broken", command: "/bin/false")
        let proxy = BusProxy(try bus.connect(), "org.imagefeed.Broken", .test)
        let name = await errorName { try await proxy.perform(.test, "Add") }
        #expect(name == "org.freedesktop.DBus.Error.Spawn.ChildExited")
    }

    @Test func `a call fails with NoReply after its timeout`() async throws {
        for timeout in [Duration.milliseconds(20), .zero, .seconds(-1), .nanoseconds(1)] {
            let name = await errorName {
                let _: UInt32 = try await server.proxy.call(.test, "Wait", timeout: timeout)
            }
            #expect(name == .noReply)
        }
        // The late replies have no waiter any more.
        server.object.isReleased.update { $0 = true }
        #expect(try await server.addOnes() == 2)
    }

    @Test func `a call ends when its task is cancelled`() async throws {
        let call = server.startWaiting()
        try await server.object.waiting.wait { $0 == 1 ? true : nil }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        server.object.isReleased.update { $0 = true }
        try await server.proxy.perform("org.freedesktop.DBus.Peer", "Ping")
    }

    @Test func `a call of a cancelled task ends immediately`() async throws {
        let call = Task {
            let _: UInt32 = try await server.proxy.call(.test, "Wait", timeout: nil)
        }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        server.object.isReleased.update { $0 = true }
    }

    @Test func `a call fails with NoReply when its peer disconnects`() async throws {
        let bus = try PrivateBus.current
        let client = try bus.connect()
        var peer: BusConnection? = try bus.connect()
        let called = Observed(false)
        peer?.onMethodCall = { _ in called.update { $0 = true } }
        let proxy = BusProxy(client, try #require(peer?.uniqueName), .test)
        let call = Task { try await proxy.perform(.test, "Add", timeout: nil) }
        try await called.wait { $0 ? true : nil }
        peer = nil
        let name = await errorName { try await call.value }
        #expect(name == .noReply)
    }

    @Test func `a reply from another sender is ignored`() async throws {
        let forger = try PrivateBus.current.connect()
        let call = server.startWaiting()
        try await server.object.waiting.wait { $0 == 1 ? true : nil }
        for serial in 1..<100 as Range<UInt32> {
            let forged = MessageHeader(
                kind: .methodReturn, destination: server.client.uniqueName, replySerial: serial)
            forger.send(try BusMessage(forged, 666 as UInt32))
        }
        #expect(try await forger.owner(of: .bus) == .bus)
        server.object.isReleased.update { $0 = true }
        #expect(try await call.value == 1)
    }

    @Test func `results of unexpected types are rejected`() async throws {
        await #expect(throws: BusError.invalidValue("expected (s), found (u)")) {
            let _: String = try await server.proxy.call(.test, "Add", 1 as UInt32, 1 as UInt32)
        }
    }

    @Test func `arguments that cannot be marshalled are rejected before sending`() async throws {
        await #expect(throws: BusError.invalidValue("a string contains a NUL character")) {
            try await server.proxy.perform(.test, "Echo", "\0")
        }
    }

    @Test func `each of many calls gets its own reply`() async throws {
        let calls = (0..<500 as Range<UInt32>).map { number in
            Task { () throws -> UInt32 in
                try await server.proxy.call(.test, "Add", number, 1 as UInt32)
            }
        }
        for (number, call) in calls.enumerated() {
            #expect(try await call.value == UInt32(number) + 1)
        }
    }

    @Test func `calls arrive in the order in which they were sent`() async throws {
        for number in 0..<500 as Range<UInt32> {
            server.client.send(try BusMessage(server.call("Record"), number))
        }
        #expect(try await server.object.recordedNumbers.elements(500) == Array(0..<500))
    }

    @Test func `a signal that arrives before a reply is delivered first`() async throws {
        let signals = Observed<[UInt32]>()
        let subscription = try await server.client.subscribe(MatchRule(interface: .test)) {
            if let signal: (UInt32, String) = try? $0.read() { signals.append(signal.0) }
        }
        for number in 0..<100 as Range<UInt32> {
            server.exported.emit(.test, "Changed", number, "")
        }
        try await server.proxy.perform(.test, "Record", 1 as UInt32)
        #expect(signals.value.count == 100)
        withExtendedLifetime(subscription) {}
    }

    @Test func `a handler can call its caller`() async throws {
        let bus = try PrivateBus.current
        let other = try bus.connect()
        let tree = ObjectTree(other, root: "/") { _ in ErrorReply(.failed, "") }
        let object = ExportedObject("/back")
        object.add(
            BusInterface<BusConnection>(
                "a.b",
                [
                    .asyncMethod("Ask", out: ["sum"]) { (connection) -> UInt32 in
                        try await BusProxy(connection, server.connection.uniqueName, .test)
                            .call(.test, "Add", 2 as UInt32, 2 as UInt32)
                    }
                ]), on: other)
        tree.export(object)
        tree.start()
        let sum: UInt32 = try await BusProxy(server.connection, other.uniqueName, "/back")
            .call("a.b", "Ask")
        #expect(sum == 4)
        object.remove(["a.b"])
    }
}
