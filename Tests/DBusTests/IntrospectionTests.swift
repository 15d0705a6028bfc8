import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import DBus

@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct IntrospectionTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `the introspection data is XML with every member in order`() async throws {
        let xml: String = try await server.proxy.call(
            "org.freedesktop.DBus.Introspectable", "Introspect")
        let document = try XMLDocument(data: Data(xml.utf8))
        let interfaces = try document.names("/node/interface")
        #expect(
            interfaces == [
                "org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Properties",
                "org.freedesktop.DBus.Introspectable", "org.imagefeed.Test",
            ])
        let test = "/node/interface[@name='org.imagefeed.Test']"
        #expect(try document.names("\(test)/method").first == "Add")
        #expect(try document.names("\(test)/method[@name='Add']/arg") == ["a", "b", "sum"])
        #expect(try document.names("\(test)/property") == ["Number", "Label", "Id"])
        #expect(try document.names("\(test)/property[@access='readwrite']") == ["Label"])
        #expect(try document.names("\(test)/property[annotation/@value='const']") == ["Id"])
        #expect(try document.names("\(test)/signal/arg[@type='u']") == ["number"])
    }

    @Test func `the paths above objects list their children`() async throws {
        server.tree.export(ExportedObject("/org/imagefeed/a/b"))
        func children(_ path: ObjectPath) async throws -> [String] {
            let xml: String = try await BusProxy(
                server.client, server.connection.uniqueName, path
            ).call("org.freedesktop.DBus.Introspectable", "Introspect")
            return try XMLDocument(data: Data(xml.utf8)).names("/node/node")
        }
        #expect(try await children("/") == ["org"])
        #expect(try await children("/org") == ["imagefeed"])
        #expect(try await children("/org/imagefeed") == ["a", "test"])
        #expect(try await children("/org/imagefeed/a") == ["b"])
        #expect(try await children("/org/imagefeed/a/b") == [])
    }

    @Test func `busctl shows objects and members`() async throws {
        let bus = try PrivateBus.current
        func busctl(_ arguments: String...) async throws -> String {
            let process = try ChildProcess(
                "/usr/bin/busctl", ["--address=\(bus.address)", "--no-pager"] + arguments,
                environment: bus.environment)
            let result = try await process.result()
            #expect(result.exit == .code(0), "\(result.error)")
            return result.output
        }
        let name = server.connection.uniqueName.text
        let members = try await busctl("introspect", name, ObjectPath.test.text)
        #expect(members.contains(/\.Add +method +uu +u/))
        #expect(members.contains(/\.Label +property +s +"one" +emits-change writable/))
        #expect(members.contains(/\.Changed +signal +us/))
        let tree = try await busctl("tree", "--list", name)
        #expect(
            tree.split(separator: "\n") == ["/", "/org", "/org/imagefeed", "/org/imagefeed/test"])
        let sum = try await busctl(
            "call", name, ObjectPath.test.text, "org.imagefeed.Test", "Add", "uu", "1", "2")
        #expect(sum == "u 3\n")
    }
}

extension XMLDocument {
    fileprivate func names(_ path: String) throws -> [String] {
        try nodes(forXPath: path).map { node in
            (node as? XMLElement)?.attribute(forName: "name")?.stringValue ?? ""
        }
    }
}
