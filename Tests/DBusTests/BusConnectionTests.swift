import Glibc
import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct BusConnectionTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus.current }

    @Test func `each connection has a unique name`() throws {
        let (first, second) = (try bus.connect(), try bus.connect())
        #expect(first.uniqueName.isUnique)
        #expect(first.uniqueName != second.uniqueName)
        #expect(first.isConnected)
    }

    @Test(arguments: [
        "", "nonsense", "unix:path=/nonexistent/bus", "unix:path=/dev/null", "a\0b", "unix:",
        "tcp:host=127.0.0.1,port=1",
    ])
    func `connecting to an address without a bus fails`(address: String) {
        let error = #expect(throws: BusError.self) { try BusConnection(address: address) }
        guard case .noBus(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `a failed handshake leaves no socket open`() async throws {
        let before = try openSockets(of: bus)
        // The address of the bus with the GUID of another bus.
        let path = bus.directory.appending("bus")
        #expect(throws: BusError.self) {
            try BusConnection(address: "unix:path=\(path),guid=00000000000000000000000000000000")
        }
        #expect(try openSockets(of: bus) == before)
    }

    @Test func `a released connection disconnects`() async throws {
        let witness = try bus.connect()
        var connection: BusConnection? = try bus.connect()
        weak let observer = connection
        let name = try #require(connection?.uniqueName)
        let owners = Observed<[BusName?]>()
        let subscription = try await witness.watchOwner(of: name) { owners.append($0) }
        connection?.onDisconnect = { Issue.record("dropped, not disconnected") }
        _ = try await connection?.owner(of: .bus)
        connection = nil
        #expect(observer == nil)
        #expect(try await owners.elements(1) == [nil])
        withExtendedLifetime(subscription) {}
    }

    @Test func `a connection is released while trees and subscriptions refer to it`() async throws {
        var connection: BusConnection? = try bus.connect()
        weak let observer = connection
        var tree = connection.map { ObjectTree($0, root: "/") { _ in ErrorReply(.failed, "") } }
        tree?.start()
        var subscription = try await connection?.subscribe(MatchRule(member: "A")) { _ in }
        _ = try await connection?.requestName("a.b", replacing: false) {}
        tree = nil
        connection = nil
        #expect(observer == nil)
        // A subscription may outlive its connection.
        subscription = nil
        withExtendedLifetime((tree, subscription)) {}
    }

    @Test func `a connection can be released while it delivers a message`() async throws {
        let sender = try bus.connect()
        let box = Box<BusConnection>()
        let name: BusName
        do {
            let connection = try bus.connect()
            name = connection.uniqueName
            box.value = connection
            box.subscription = try await connection.subscribe(MatchRule(member: "A")) { _ in
                box.value = nil
                box.subscription = nil
            }
        }
        let gone = Observed<[BusName?]>()
        let watch = try await sender.watchOwner(of: name) { gone.append($0) }
        for _ in 0..<3 { sender.send(try BusMessage(.signal("/", "a.b", "A", to: name))) }
        #expect(try await gone.elements(1) == [nil])
        withExtendedLifetime(watch) {}
    }

    @Test func `the loss of the bus is reported once and fails every call`() async throws {
        let server = try TestServer()
        let ends = Observed<[Int]>()
        server.client.onDisconnect = { ends.append(1) }
        let calls = (0..<10).map { _ in server.startWaiting() }
        try await server.object.waiting.wait { $0 == 10 ? true : nil }
        try await bus.stop()
        for call in calls {
            await #expect(throws: BusError.disconnected) { try await call.value }
        }
        #expect(try await ends.elements(1).count == 1)
        #expect(!server.client.isConnected)
        await #expect(throws: BusError.disconnected) {
            try await server.proxy.perform(.test, "Wait")
        }
        await #expect(throws: BusError.disconnected) {
            try await server.client.requestName("a.b", replacing: false) {}
        }
        // The remaining work must not fail.
        server.object.isReleased.update { $0 = true }
        server.object.number = 2
        server.exported.flushChanges()
        server.client.send(try BusMessage(.test))
        server.client.flush()
        #expect(ends.value.count == 1)
    }

    @Test func `the loss of the bus is detected during a large send`() async throws {
        let connection = try bus.connect()
        let ends = Observed<[Int]>()
        connection.onDisconnect = { ends.append(1) }
        bus.daemon.kill(SIGSTOP)
        for _ in 0..<20 {
            connection.send(try BusMessage(.test, String(repeating: "x", count: 1 << 20)))
        }
        try await bus.stop()
        _ = try await ends.elements(1)
    }

    @Test func `messages that exceed the socket buffer are sent later`() async throws {
        let server = try TestServer()
        bus.daemon.kill(SIGSTOP)
        let text = String(repeating: "x", count: 1 << 20)
        let calls = (0..<20).map { _ in
            Task.immediate { () throws -> UInt32 in
                try await server.proxy.call(.test, "Length", text, timeout: nil)
            }
        }
        bus.daemon.kill(SIGCONT)
        for call in calls { #expect(try await call.value == 1 << 20) }
    }

    @Test func `a received message can be released on any thread`() async throws {
        let server = try TestServer()
        // More than libdbus buffers before it stops reading; releasing the message makes it resume.
        var message: BusMessage? = try await server.client.call(
            try BusMessage(server.call("Fill"), UInt32(70 << 20)), timeout: nil)
        let dropped = Task.detached { [message] in _ = message?.serial }
        message = nil
        await dropped.value
        try await server.proxy.perform("org.freedesktop.DBus.Peer", "Ping")
    }
}

@MainActor
private final class Box<Value> {
    var value: Value?
    var subscription: SignalSubscription?
}

/// Returns the number of sockets of this process that are connected to `bus`.
private func openSockets(of bus: PrivateBus) throws -> Int {
    try openDescriptors().count { descriptor in
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(descriptor, $0, &size)
            }
        }
        guard code == 0, address.sun_family == sa_family_t(AF_UNIX) else { return false }
        let path = withUnsafeBytes(of: address.sun_path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return path == bus.directory.appending("bus")
    }
}
