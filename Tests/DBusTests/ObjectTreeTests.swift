import TestSupport
import Testing

@testable import DBus

@Suite struct RunningCallsTests {
    @Test func `each client has a thousand calls`() {
        var calls = RunningCalls()
        let first = (0..<1001).map { _ in calls.begin(":1.1") }
        #expect(first.firstIndex(of: false) == 1000)
        let other = calls.begin(":1.2")
        #expect(other)
        calls.end(":1.1")
        let again = calls.begin(":1.1")
        #expect(again)
        calls.end(":1.3")
    }
}

@Suite(.privateBus, .timeLimit(.minutes(1))) @MainActor
struct ObjectTreeTests {
    @Test func `what is not there has a standard error`() async throws {
        let server = try TestServer()
        let proxy = server.proxy
        let nowhere = BusProxy(server.client, proxy.destination, "/org/imagefeed/nowhere")
        let errors = [
            await errorName { try await nowhere.perform(.test, "Add") },
            await errorName { try await proxy.perform("a.b", "Add") },
            await errorName { try await proxy.perform(.test, "Nothing") },
            await errorName { try await proxy.perform(.test, "Number") },
            await errorName { _ = try await proxy.property(.test, "Nothing") },
            await errorName { _ = try await proxy.property("a.b", "Number") },
            await errorName { _ = try await proxy.properties("a.b") },
            await errorName { try await proxy.set(.test, "Nothing", to: "x") },
            await errorName { try await proxy.set(.test, "Number", to: 2 as UInt32) },
            await errorName { try await proxy.set(.test, "Label", to: 2 as UInt32) },
            await errorName { try await proxy.set(.test, "Label", to: "") },
            await errorName { try await proxy.perform(.test, "Add", "text") },
            await errorName { try await proxy.perform(.test, "Add", 1 as UInt32) },
            await errorName { try await proxy.perform(.test, "Wait", 1 as UInt32) },
            await errorName {
                try await proxy.perform("org.freedesktop.DBus.Properties", "Get", "x")
            },
            await errorName { try await proxy.perform("org.freedesktop.DBus.Peer", "Nothing") },
            await errorName { _ = try await proxy.managedObjects() },
        ]
        #expect(
            errors == [
                .unknownObject, .unknownInterface, .unknownMethod, .unknownMethod,
                .unknownProperty, .unknownInterface, .unknownInterface, .unknownProperty,
                .propertyReadOnly, .invalidArgs, .invalidArgs, .invalidArgs, .invalidArgs,
                .invalidArgs, .invalidArgs, .unknownMethod, .unknownInterface,
            ])
        #expect(server.object.number == 1)
        #expect(server.object.label == "one")
    }

    @Test func `errors of handlers are named`() async throws {
        let server = try TestServer()
        await #expect(
            throws: BusError.reply(ErrorReply("org.imagefeed.Error.Other", "TestError"))
        ) {
            try await server.proxy.perform(.test, "FailOtherwise")
        }
        await #expect(throws: BusError.reply(ErrorReply("a.b.C", ""))) {
            try await server.proxy.perform(.test, "Fail", "a.b.C", "")
        }
    }

    @Test func `an answer that cannot be sent is an error`() async throws {
        let server = try TestServer()
        let broken = await errorName {
            let _: String = try await server.proxy.call(.test, "Broken")
        }
        #expect(broken == .failed)
        let huge = await errorName { let _: String = try await server.proxy.call(.test, "Huge") }
        #expect(huge == .limitsExceeded)
    }

    @Test func `a call without an interface finds its method`() async throws {
        let server = try TestServer()
        let sum: UInt32 = try await server.client.call(
            server.header("Add"), 1 as UInt32, 2 as UInt32)
        #expect(sum == 3)
        let xml: String = try await server.client.call(server.header("Introspect"))
        #expect(xml.contains("<node>"))
        let name = await errorName { try await server.client.call(server.header("Nothing")) }
        #expect(name == .unknownMethod)
    }

    @Test func `a call that wants no reply gets none`() async throws {
        let server = try TestServer()
        for member in ["Note", "Nothing", "Page", "Broken"] as [MemberName] {
            var header = MessageHeader.methodCall(
                server.connection.uniqueName, .test, .test, member)
            header.expectsReply = false
            server.client.send(try BusMessage(header, 7 as UInt32))
        }
        #expect(try await server.object.notes.elements(1) == [7])
        try await server.proxy.perform("org.freedesktop.DBus.Peer", "Ping")
        #expect(server.object.pages == 1)
    }

    @Test func `calls are held until the tree is started`() async throws {
        let server = try TestServer(started: false)
        _ = try await server.connection.requestName("a.b", replacing: false) {}
        let proxy = BusProxy(server.client, "a.b", .test.appending("late"))
        let answered = Observed<Set<Int>>([])
        let calls = (0..<5).map { number in
            Task.immediate { () throws -> String in
                let xml: String = try await proxy.call(
                    "org.freedesktop.DBus.Introspectable", "Introspect")
                answered.update { $0.insert(number) }
                return xml
            }
        }
        let added = Task.immediate { () throws -> UInt32 in
            try await server.proxy.call(.test, "Add", 1 as UInt32, 1 as UInt32)
        }
        // The calls above are there once this one is, which came later.
        try await BusProxy(server.client, "a.b", "/").perform("org.freedesktop.DBus.Peer", "Ping")
        #expect(answered.value.isEmpty)
        server.tree.export(ExportedObject(.test.appending("late")))
        server.tree.start()
        server.tree.start()
        for call in calls { #expect(try await call.value.contains("Properties")) }
        #expect(try await added.value == 2)
        #expect(answered.value == [0, 1, 2, 3, 4])
    }

    @Test func `results at hand are sent again without making them`() async throws {
        let server = try TestServer()
        for _ in 0..<3 {
            let page: String = try await server.proxy.call(.test, "Page", 7 as UInt32)
            #expect(page == "page 7")
        }
        #expect(server.object.pages == 1)
    }

    @Test func `an object that was taken away is unknown`() async throws {
        let server = try TestServer()
        let running = Task.immediate { () throws -> UInt32 in
            try await server.proxy.call(.test, "Wait", timeout: nil)
        }
        try await server.object.waiting.wait { $0 == 1 ? true : nil }
        server.tree.remove(server.exported)
        server.tree.remove(server.exported)
        let name = await errorName { try await server.proxy.perform(.test, "Add") }
        #expect(name == .unknownObject)
        // What it was doing is still answered.
        server.object.isReleased.update { $0 = true }
        #expect(try await running.value == 1)
    }

    @Test func `a tree that is gone answers with an error`() async throws {
        let bus = try PrivateBus.current
        let (connection, client) = (try bus.connect(), try bus.connect())
        var tree: ObjectTree? = ObjectTree(connection, root: "/") { _ in ErrorReply(.failed, "") }
        tree?.start()
        tree = nil
        let proxy = BusProxy(client, connection.uniqueName, "/")
        let name = await errorName { _ = try await proxy.properties("a.b") }
        #expect(name == .unknownMethod)
        withExtendedLifetime(tree) {}
    }

    @Test func `libdbus answers a ping on every path`() async throws {
        let server = try TestServer()
        for path in [.test, "/nowhere", "/"] as [ObjectPath] {
            try await BusProxy(server.client, server.connection.uniqueName, path)
                .perform("org.freedesktop.DBus.Peer", "Ping")
        }
    }
}

extension TestServer {
    /// A call of ``object`` that names no interface.
    func header(_ member: MemberName) -> MessageHeader {
        var header = MessageHeader.methodCall(connection.uniqueName, .test, .test, member)
        header.interface = nil
        return header
    }
}
