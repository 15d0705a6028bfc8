import Contract
import DBus
import Foundation
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that the documented interfaces equal the introspection data of the daemon, and contain the released ones.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct InterfaceTests {
    private nonisolated static let folder = repository.appending(path: "dist/interfaces")
    /// The interfaces of the last release of major version 1. See "Releases" in the contributor page.
    private nonisolated static let releasedFolder = folder.appending(path: "1")

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
    }

    @Test(
        .enabled("nothing has been released") {
            FileManager.default.fileExists(atPath: releasedFolder.path)
        })
    func `the documented interfaces contain those of the last release`() throws {
        let documented = try InterfaceDescription.files(in: Self.folder)
        for (name, released) in try InterfaceDescription.files(in: Self.releasedFolder) {
            let current = try #require(documented[name], "\(name) was removed")
            let removed = released.members.subtracting(current.members)
            #expect(removed.isEmpty, "\(name): removed or changed")
            #expect(current == released || current.version ?? 0 > released.version ?? 0, "\(name)")
        }
    }
}
