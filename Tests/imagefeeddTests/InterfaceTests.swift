import BusAPI
import DBus
import Foundation
import FoundationXML
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that the documented interfaces equal the introspection data of the daemon.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct InterfaceTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "dist/interfaces")

    @Test func `the documented interfaces equal those of the daemon`() async throws {
        let world = try await UnsplashWorld()
        let (daemon, client) = (world.daemon, world.client)
        let (started, url) = try await world.startLogin()
        let login = started.path
        async let waiting = started.wait()
        try await world.unsplash.approve(url, as: "ada")
        let account = try await waiting
        let photo = try #require(world.unsplash.feed.first?.id)
        let transfer = try await client.service.account(account).download(
            photo, to: try Destination.file())
        var served: [String: [String]] = [:]
        for path in [
            ServiceName.root, ServiceName.providers.appending("local"), account, login, transfer,
        ] {
            let xml: String = try await client.proxy(path).call(
                "org.freedesktop.DBus.Introspectable", "Introspect")
            served.merge(InterfaceParser.interfaces(Data(xml.utf8))) { $1 }
        }
        served = served.filter { $0.key.hasPrefix("org.imagefeed.") }
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "xml" }
        var documented: [String: [String]] = [:]
        for file in files {
            documented.merge(InterfaceParser.interfaces(try Data(contentsOf: file))) { $1 }
        }
        #expect(documented.count == 8)
        #expect(Set(documented.keys) == Set(served.keys))
        for (name, members) in documented { #expect(served[name] == members, "\(name)") }
        try await daemon.stop()
    }

    @Test func `all objects are found by introspection from the root`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        var found: [ObjectPath] = []
        var waiting: [ObjectPath] = [.root]
        while let path = waiting.popLast() {
            let xml: String = try await client.proxy(path).call(
                "org.freedesktop.DBus.Introspectable", "Introspect")
            found.append(path)
            waiting += InterfaceParser.children(Data(xml.utf8)).map { path.appending($0) }
        }
        #expect(found.contains(account.path))
        #expect(found.contains(ServiceName.providers.appending("local")))
        try await daemon.stop()
    }
}

/// A parser of introspection data. The result is a sorted list of member descriptions per interface.
private final class InterfaceParser: NSObject, XMLParserDelegate {
    private var interfaces: [String: [String]] = [:]
    private var children: [String] = []
    private var interface: String?
    private var member: String?

    static func interfaces(_ xml: Data) -> [String: [String]] {
        parse(xml).interfaces.mapValues { $0.sorted() }
    }

    static func children(_ xml: Data) -> [String] { parse(xml).children }

    private static func parse(_ xml: Data) -> InterfaceParser {
        let result = InterfaceParser()
        let parser = XMLParser(data: xml)
        parser.delegate = result
        #expect(parser.parse())
        return result
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        let name = attributes["name"] ?? ""
        switch element {
        case "node": if !name.isEmpty { children.append(name) }
        case "interface":
            interface = name
            interfaces[name] = []
        case "method", "signal": member = "\(element) \(name)"
        case "property":
            let (type, access) = (attributes["type"] ?? "", attributes["access"] ?? "")
            member = "\(element) \(name) \(type) \(access)"
        case "arg":
            let direction = attributes["direction"] ?? (isInSignal ? "out" : "in")
            member? += " \(direction) \(name) \(attributes["type"] ?? "")"
        case "annotation": member? += " \(name) \(attributes["value"] ?? "")"
        default: break
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard ["method", "signal", "property"].contains(element), let interface, let member else {
            return
        }
        interfaces[interface]?.append(member)
        self.member = nil
    }

    private var isInSignal: Bool { member?.hasPrefix("signal ") == true }
}
