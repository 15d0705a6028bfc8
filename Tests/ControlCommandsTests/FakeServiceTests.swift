import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Compares the service that the other tests use with the documented interfaces.
@Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) @MainActor struct FakeServiceTests {
    @Test func `the fake service has only members of the documented interfaces`() async throws {
        let connection = try PrivateBus.current.connect()
        let client = ServiceClient(connection)
        let login = try await client.startLogin("unsplash", [:])
        let account = ServiceName.accounts.appending("local_ada")
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let transfer = try await client.account(account).download(
            "7", to: FileDescriptor(owning: ends[1]))
        let documented = try InterfaceDescription.files(
            in: Control.project.appending(path: "dist/interfaces"))
        var compared: Set<String> = []
        for path in [
            ServiceName.root, ServiceName.providers.appending("local"), account, login,
            transfer, ServiceName.combined, ServiceName.slideshow,
        ] {
            let xml: String = try await BusProxy(connection, ServiceName.bus, path).call(
                "org.freedesktop.DBus.Introspectable", "Introspect")
            for (name, interface) in InterfaceDescription.parse(Data(xml.utf8))
            where name.hasPrefix("org.imagefeed.") {
                compared.insert(name)
                let known = try #require(documented[name], "\(name)").signatures
                let others = interface.signatures.subtracting(known)
                #expect(others.isEmpty, "\(name)")
            }
        }
        #expect(compared == Set(documented.keys))
    }
}
