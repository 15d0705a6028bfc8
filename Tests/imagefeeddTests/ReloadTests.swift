import Contract
import DBus
import ImmichSimulator
import NextcloudSimulator
import ProviderKit
import TestSupport
import Testing

/// Tests that a changed setting of a provider applies to photos that are cached and prepared already.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10)))
@MainActor
struct ReloadTests {
    @Test(arguments: [TestedProvider.immich, .immichPlugin, .nextcloud, .nextcloudPlugin])
    func `photos have places while the user allows it`(provider: TestedProvider) async throws {
        let fixture = try await provider.secretFixture()
        var photo = ""
        if let server = (fixture as? ImmichFixture)?.server {
            photo = server.publish { ($0.latitude, $0.longitude) = (48.5, 9.25) }.id
        } else if let server = (fixture as? NextcloudFixture)?.server {
            photo = "\(server.publish { ($0.latitude, $0.longitude) = (48.5, 9.25) }.id)"
        }
        let hiding = try RunningDaemon.configuration
        let showing = hiding.replacing("AllowLoopback", with: "ShowLocation=true\nAllowLoopback")
        try await fixture.daemon.configure(showing)
        let ada = try await fixture.logIn("ada")
        let id = "\(fixture.accountID("ada"))/\(photo)"
        let updates = try await Signals(fixture.client.connection, ada.path, .feed, "Updated")
        let places = { () async throws -> [Bool] in
            let page = try await ada.page("", cursor: "", count: 30).photos
            let combined = try await fixture.client.service.combined
                .page("", cursor: "", count: 30).photos
            let listed = page.first { $0["id"]?.string == photo }
            let joined = combined.first { $0["id"]?.string == id }
            return [listed, joined, try await ada.photo(photo)].map { $0?.photo.latitude != nil }
        }
        try await poll { try await places() == [true, true, true] }
        updates.messages.update { $0 = [] }
        try await fixture.daemon.configure(hiding)
        try await poll { (try? await places()) == [false, false, false] }
        // Clients read the photos again after the signal.
        _ = try await updates.messages.elements(1)
        try await fixture.restart()
        try await fixture.wait(ada, "ready")
        #expect(try await places() == [false, false, false])
        try await fixture.daemon.configure(showing)
        try await poll { (try? await places()) == [true, true, true] }
    }
}
