import Contract
import DBus
import Foundation
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that the documented interfaces equal the introspection data of the daemon, and contain the released ones.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct InterfaceTests {
    private static let folder = repository.appending(path: "dist/interfaces")
    /// The interfaces of the last release of major version 1. See "Releases" in the contributor page.
    private static let releasedFolder = folder.appending(path: "1")

    @Test func `the documented interfaces equal those of the daemon`() async throws {
        let fixture = try await UnsplashFixture()
        let client = fixture.client
        let (started, url) = try await fixture.startLogin()
        let login = started.path
        async let waiting = started.wait()
        try await fixture.unsplash.approve(url, as: "ada")
        let account = try await waiting
        let photo = try #require(fixture.unsplash.feed.first?.id)
        let transfer = try await client.service.account(account).download(
            photo, to: try Destination.file())
        let documented = try InterfaceDescription.files(in: Self.folder)
        var served: [String: InterfaceDescription] = [:]
        for path in [
            ServiceName.root, ServiceName.providers.appending("local"), account, login, transfer,
            ServiceName.combined, ServiceName.slideshow,
        ] {
            let xml: String = try await client.proxy(path).call(
                "org.freedesktop.DBus.Introspectable", "Introspect")
            for (name, interface) in InterfaceDescription.parse(Data(xml.utf8))
            where name.hasPrefix("org.imagefeed.") {
                served[name] = interface
                let name = try InterfaceName(name)
                let version = try await client.proxy(path).property(name, name.versionProperty)
                #expect(version.uint32 != nil && version.uint32 == documented[name.text]?.version)
            }
        }
        #expect(documented.count == 10)
        #expect(Set(documented.keys) == Set(served.keys))
        for (name, interface) in served {
            #expect(documented[name]?.members == interface.members, "\(name)")
        }
        let released = try InterfaceDescription.files(in: Self.releasedFolder)
        let violations = InterfaceDescription.violations(released: released, later: served)
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `the documented interfaces contain those of the last release`() throws {
        let released = try InterfaceDescription.files(in: Self.releasedFolder)
        let violations = InterfaceDescription.violations(
            released: released, later: try InterfaceDescription.files(in: Self.folder))
        #expect(!released.isEmpty)
        #expect(released.values.allSatisfy { $0.version != nil && !$0.members.isEmpty })
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("<method name=\"Next\"/>", "", "method Next"),
        ("type=\"s\" direction=\"in\"", "type=\"o\" direction=\"in\"", "method Show in photo s"),
        ("name=\"photo\"", "name=\"image\"", "method Show in photo s"),
        ("direction=\"in\"", "direction=\"out\"", "method Show in photo s"),
        ("access=\"readwrite\"", "access=\"read\"", "property Paused b readwrite"),
        ("<arg name=\"count\" type=\"u\"/>", "", "signal Changed out count u"),
        ("value=\"const\"", "value=\"true\"", "property Version u read"),
    ])
    func `the comparison reports a removed or changed member`(
        _ text: String, _ replacement: String, _ member: String
    ) throws {
        let released = Self.example(version: 1)
        let later = released.replacing(text, with: replacement)
            .replacing("version 1 of", with: "version 2 of")
        #expect(released != later)
        let violations = InterfaceDescription.violations(
            released: InterfaceDescription.parse(Data(released.utf8)),
            later: InterfaceDescription.parse(Data(later.utf8)))
        try #require(violations.count == 1, "\(violations)")
        #expect(violations[0].hasPrefix("org.example.A: removed or changed: \(member)"))
    }

    @Test func `the comparison reports a removed interface and a lower version`() {
        let released = InterfaceDescription.parse(Data(Self.example(version: 2).utf8))
        #expect(
            InterfaceDescription.violations(released: released, later: [:]) == [
                "org.example.A was removed"
            ])
        let lower = InterfaceDescription.parse(Data(Self.example(version: 1).utf8))
        #expect(
            InterfaceDescription.violations(released: released, later: lower) == [
                "org.example.A: version 1 after 2"
            ])
    }

    @Test(arguments: [1, 2])
    func `an addition needs a higher version`(version: Int) {
        let released = Self.example(version: 1)
        let later = Self.example(version: version)
            .replacing("</interface>", with: "<method name=\"B\"/></interface>")
        let violations = InterfaceDescription.violations(
            released: InterfaceDescription.parse(Data(released.utf8)),
            later: InterfaceDescription.parse(Data(later.utf8)))
        #expect(
            violations
                == (version == 1 ? ["org.example.A: added without a new version: method B"] : []))
    }

    private static func example(version: Int) -> String {
        """
        <node>
          <!-- This documentation describes version \(version) of this interface. -->
          <interface name="org.example.A">
            <method name="Next"/>
            <method name="Show"><arg name="photo" type="s" direction="in"/></method>
            <signal name="Changed"><arg name="count" type="u"/></signal>
            <property name="Paused" type="b" access="readwrite"/>
            <property name="Version" type="u" access="read">
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            </property>
          </interface>
        </node>
        """
    }

    @Test func `all objects are found by introspection from the root`() async throws {
        let (_, client, account) = try await startWithUser()
        var found: [ObjectPath] = []
        var waiting: [ObjectPath] = [.root]
        while let path = waiting.popLast() {
            let xml: String = try await client.proxy(path).call(
                "org.freedesktop.DBus.Introspectable", "Introspect")
            found.append(path)
            waiting += InterfaceDescription.children(Data(xml.utf8)).map { path.appending($0) }
        }
        #expect(found.contains(account.path))
        #expect(found.contains(ServiceName.providers.appending("local")))
    }
}
