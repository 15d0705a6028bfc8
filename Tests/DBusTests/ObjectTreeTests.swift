import Glibc
import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct ObjectTreeTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `missing objects and members have standard errors`() async throws {
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

    @Test func `an object is sought once before a call, and not for descriptors`() async throws {
        var searched: [ObjectPath] = []
        server.tree.onUnknownObject = { path in
            guard path != "/org/imagefeed/other" else { return nil }
            return {
                searched.append(path)
                guard path == "/org/imagefeed/late" else { return }
                let late = ExportedObject(path)
                late.add(TestObject.interface, on: server.object)
                server.tree.export(late)
            }
        }
        let late = BusProxy(server.client, server.connection.uniqueName, "/org/imagefeed/late")
        let nowhere = BusProxy(server.client, server.connection.uniqueName, "/org/imagefeed/no")
        let other = BusProxy(server.client, server.connection.uniqueName, "/org/imagefeed/other")
        let descriptor = Variant.fileDescriptor(FileDescriptor(owning: dup(STDIN_FILENO)))
        let errors = [
            await errorName { try await late.perform(.test, "Take", ["a": descriptor]) },
            await errorName { try await nowhere.perform(.test, "Add") },
            await errorName { try await other.perform(.test, "Add") },
        ]
        #expect(errors == [.unknownObject, .unknownObject, .unknownObject])
        #expect(searched == ["/org/imagefeed/no"])
        let number: UInt32 = try await late.call(.test, "Add", 1 as UInt32, 2 as UInt32)
        #expect(number == 3)
        #expect(await errorName { try await late.perform(.test, "Nothing") } == .unknownMethod)
        #expect(searched == ["/org/imagefeed/no", "/org/imagefeed/late"])
    }

    @Test func `errors of handlers are converted to error replies`() async throws {
        await #expect(
            throws: BusError.reply(ErrorReply("org.imagefeed.Error.Other", "TestError"))
        ) {
            try await server.proxy.perform(.test, "FailOtherwise")
        }
        for message in ["why", ""] {
            await #expect(throws: BusError.reply(ErrorReply("a.b.C", message))) {
                try await server.proxy.perform(.test, "Fail", "a.b.C", message)
            }
        }
    }

    @Test func `a reply that cannot be sent becomes an error reply`() async throws {
        let broken = await errorName {
            let _: String = try await server.proxy.call(.test, "Broken")
        }
        #expect(broken == .failed)
        let huge = await errorName {
            let _: String = try await server.proxy.call(.test, "Huge", timeout: nil)
        }
        #expect(huge == .limitsExceeded)
    }

    @Test func `a call without an interface finds its method`() async throws {
        let sum: UInt32 = try await server.client.call(
            server.header("Add"), 1 as UInt32, 2 as UInt32)
        #expect(sum == 3)
        let xml: String = try await server.client.call(server.header("Introspect"))
        #expect(xml.contains("<node>"))
        let name = await errorName { try await server.client.call(server.header("Nothing")) }
        #expect(name == .unknownMethod)
    }

    @Test func `a call with the flag NO_REPLY_EXPECTED gets no reply`() async throws {
        for member in ["Record", "Nothing", "Page", "Broken"] as [MemberName] {
            var header = server.call(member)
            header.expectsReply = false
            server.client.send(try BusMessage(header, 7 as UInt32))
        }
        #expect(try await server.object.recordedNumbers.elements(1) == [7])
        try await server.proxy.perform("org.freedesktop.DBus.Peer", "Ping")
        #expect(server.object.pages == 1)
    }

    @Test func `calls are held until the tree is started`() async throws {
        let server = try TestServer(started: false)
        _ = try await server.connection.requestName("a.b", replacing: false) {}
        let proxy = BusProxy(server.client, "a.b", .test.appending("late"))
        let completed = Observed<Set<Int>>([])
        let calls = (0..<5).map { number in
            Task.immediate { () throws -> String in
                let xml: String = try await proxy.call(
                    "org.freedesktop.DBus.Introspectable", "Introspect")
                completed.update { $0.insert(number) }
                return xml
            }
        }
        let added = Task.immediate { try await server.addOnes() }
        // This later call arrives after the calls above.
        try await BusProxy(server.client, "a.b", "/").perform("org.freedesktop.DBus.Peer", "Ping")
        #expect(completed.value.isEmpty)
        server.tree.export(ExportedObject(.test.appending("late")))
        server.tree.start()
        server.tree.start()
        for call in calls { #expect(try await call.value.contains("Properties")) }
        #expect(try await added.value == 2)
        #expect(completed.value == [0, 1, 2, 3, 4])
    }

    @Test func `a prepared reply is sent without calling the handler`() async throws {
        for _ in 0..<3 {
            let page: String = try await server.proxy.call(.test, "Page", 7 as UInt32)
            #expect(page == "page 7")
        }
        #expect(server.object.pages == 1)
    }

    @Test func `a removed object is unknown`() async throws {
        let running = server.startWaiting()
        try await server.object.waiting.wait { $0 == 1 ? true : nil }
        server.tree.remove(server.exported)
        server.tree.remove(server.exported)
        let name = await errorName { try await server.proxy.perform(.test, "Add") }
        #expect(name == .unknownObject)
        // A running call still gets its reply.
        server.object.isReleased.update { $0 = true }
        #expect(try await running.value == 1)
    }

    @Test func `calls to a released tree get an error`() async throws {
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

    @Test func `libdbus replies to a ping on every path`() async throws {
        for path in [.test, "/nowhere", "/"] as [ObjectPath] {
            try await BusProxy(server.client, server.connection.uniqueName, path)
                .perform("org.freedesktop.DBus.Peer", "Ping")
        }
    }
}

extension TestServer {
    /// Returns the header of a call of ``object`` without an interface.
    func header(_ member: MemberName) -> MessageHeader {
        var header = call(member)
        header.interface = nil
        return header
    }
}
