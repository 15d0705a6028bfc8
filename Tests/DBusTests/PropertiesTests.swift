import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct PropertiesTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `properties can be read individually and together`() async throws {
        #expect(try await server.proxy.property(.test, "Number") == .uint32(1))
        let all: [String: Variant] = [
            "Number": .uint32(1), "Label": .string("one"), "Id": .string("test"),
        ]
        #expect(try await server.proxy.properties(.test) == all)
        for name in ["Properties", "Introspectable", "Peer"] {
            let interface = InterfaceName(unchecked: "org.freedesktop.DBus.\(name)")
            #expect(try await server.proxy.properties(interface).isEmpty)
        }
        // An empty name selects any interface.
        let any: Variant = try await server.proxy.call(
            "org.freedesktop.DBus.Properties", "Get", "", "Label")
        #expect(any == .string("one"))
        let every: [String: Variant] = try await server.proxy.call(
            "org.freedesktop.DBus.Properties", "GetAll", "")
        #expect(every == all)
    }

    @Test func `writing a property emits PropertiesChanged`() async throws {
        let changes = try await server.changes()
        try await server.proxy.set(.test, "Label", to: "two")
        #expect(server.object.label == "two")
        #expect(try await changes.elements(1) == [["Label": .string("two")]])
    }

    @Test func `a burst of changes is announced once and equal values are not`() async throws {
        let changes = try await server.changes()
        server.exported.announceChanges()
        server.exported.flushChanges()
        for number in 2..<100 as Range<UInt32> {
            server.object.number = number
            server.object.label = "\(number)"
            server.exported.announceChanges()
        }
        _ = try await changes.elements(1)
        server.object.label = "other"
        server.object.label = "99"
        server.exported.announceChanges()
        server.exported.flushChanges()
        server.object.number = 100
        server.exported.announceChanges()
        let announced = try await changes.elements(2)
        #expect(
            announced == [
                ["Number": .uint32(99), "Label": .string("99")], ["Number": .uint32(100)],
            ])
    }

    @Test func `a pending change is announced before the object is removed`() async throws {
        let changes = try await server.changes()
        server.object.number = 2
        server.exported.announceChanges()
        server.tree.remove(server.exported)
        #expect(try await changes.elements(1) == [["Number": .uint32(2)]])
    }

    @Test func `values sent with InterfacesAdded are not announced again`() async throws {
        let changes = try await server.changes()
        server.tree.remove(server.exported)
        server.object.number = 5
        server.tree.export(server.exported)
        server.exported.flushChanges()
        server.object.number = 6
        server.exported.flushChanges()
        #expect(try await changes.elements(1) == [["Number": .uint32(6)]])
    }
}

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct ObjectManagerTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `the root object lists every object below it`() async throws {
        let objects = try await server.root.managedObjects()
        #expect(Set(objects.keys) == [.test])
        #expect(objects[.test]?["org.imagefeed.Test"]?["Label"] == .string("one"))
    }

    @Test func `the list of objects is current after each change`() async throws {
        func values() async throws -> [String: Variant]? {
            try await server.root.managedObjects()[.test]?["org.imagefeed.Test"]
        }
        // The second call gets the prepared reply.
        for _ in 0..<2 { #expect(try await values()?["Number"] == .uint32(1)) }
        server.object.number = 2
        server.exported.announceChanges()
        for _ in 0..<2 { #expect(try await values()?["Number"] == .uint32(2)) }
        server.object.number = 3
        server.exported.flushChanges()
        #expect(try await values()?["Number"] == .uint32(3))
        try await server.proxy.set(.test, "Label", to: "two")
        #expect(try await values()?["Label"] == .string("two"))
        let other = ExportedObject("/org/imagefeed/other")
        server.tree.export(other)
        #expect(try await server.root.managedObjects().count == 2)
        other.add(TestObject.interface, on: TestObject())
        #expect(try await server.root.managedObjects()[other.path]?.count == 1)
        other.remove([.test])
        #expect(try await server.root.managedObjects()[other.path]?.isEmpty == true)
        server.tree.remove(other)
        #expect(try await server.root.managedObjects().count == 1)
    }

    @Test func `added and removed objects and interfaces are announced`() async throws {
        let events = Observed<[String]>()
        let subscription = try await server.client.subscribe(
            MatchRule(path: "/org/imagefeed", interface: "org.freedesktop.DBus.ObjectManager")
        ) { signal in
            if let added: (ObjectPath, [String: [String: Variant]]) = try? signal.read() {
                let names = added.1.keys.sorted().joined(separator: " ")
                let label = added.1["org.imagefeed.Test"]?["Label"]?.string ?? ""
                events.append("+ \(added.0) \(names) \(label)")
            } else if let removed: (ObjectPath, [String]) = try? signal.read() {
                events.append("- \(removed.0) \(removed.1.joined(separator: " "))")
            }
        }
        let object = ExportedObject("/org/imagefeed/b")
        object.add(TestObject.interface, on: server.object)
        server.tree.export(object)
        object.add(BusInterface<TestObject>("a.b", []), on: server.object)
        #expect(object.has("a.b"))
        object.remove(["a.b", "c.d"])
        object.remove(["c.d"])
        server.tree.remove(object)
        #expect(
            try await events.elements(4) == [
                "+ /org/imagefeed/b org.imagefeed.Test one", "+ /org/imagefeed/b a.b ",
                "- /org/imagefeed/b a.b", "- /org/imagefeed/b org.imagefeed.Test",
            ])
        withExtendedLifetime(subscription) {}
    }
}

extension TestServer {
    /// Records the changed properties of each `PropertiesChanged` that the client receives.
    func changes() async throws -> Observed<[[String: Variant]]> {
        let changes = Observed<[[String: Variant]]>()
        let subscription = try await client.subscribe(
            MatchRule(sender: connection.uniqueName, member: "PropertiesChanged")
        ) { signal in
            guard let change: (String, [String: Variant], [String]) = try? signal.read() else {
                Issue.record("\(signal.signature)")
                return
            }
            changes.append(change.1)
        }
        object.subscriptions.append(subscription)
        return changes
    }
}
