import Contract
import DBus
import Glibc
import ProviderKit
import ServiceSimulator
import TestSupport
import Testing

/// Tests of services that are unavailable, limit requests or send invalid responses, at every remote provider.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct AcceptanceFaultTests {
    @Test(arguments: TestedProvider.withFaults)
    func `cached data are served without the service`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.serviceFixture())
        let image = try await ada.imagePath(ids[0], size: "regular")
        // The profile is stored together with the avatar.
        if fixture is any BrowserFixture { _ = try await fixture.client.avatar(of: ada) }
        let profile = try await ada.properties(.profile)
        try await fixture.daemon.stop()
        fixture.service.stop()
        try await fixture.start()
        #expect(try await ada.ids() == ids)
        #expect(try await ada.imagePath(ids[0], size: "regular") == image)
        try await fixture.wait(ada, "offline")
        let shown = try await ada.properties(.profile)
        for name in ["Name", "Username", "Bio"] { #expect(shown[name] == profile[name]) }
        // There is no next retry while one is in progress.
        try await poll { try await fixture.property(ada, "RetryAt")?.int64 ?? 0 > 0 }
        #expect(try await ada.ids() == ids)
        #expect(try await ada.photo(ids[0])["id"] == .string(ids[0]))
        await expectError(.offline) { _ = try await ada.refresh("") }
        #expect(try await Terminal.run("refresh").exit == .code(75))
        try fixture.service.resume()
        _ = try await ada.refresh("")
        try await fixture.wait(ada, "ready")
    }

    @Test(arguments: TestedProvider.withFaults)
    func `no request is sent during a rate limit`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.serviceFixture())
        fixture.exhaust()
        await expectError(.rateLimited) { _ = try await ada.refresh("") }
        let properties = try await ada.properties(.account)
        #expect(properties["State"] == .string("rate-limited"))
        #expect(try #require(properties["RetryAt"]?.int64) >= Int64(time(nil)))
        #expect(properties["StateReason"]?.string?.isEmpty == false)
        let count = fixture.requestCount
        #expect(try await ada.ids() == ids)
        await expectError(.rateLimited) { _ = try await ada.refresh("") }
        await expectError(.rateLimited) { _ = try await ada.refresh(fixture.otherSource) }
        #expect(try await Terminal.run("refresh").exit == .code(75))
        #expect(fixture.requestCount == count)
        // Images are not requests to the API.
        #expect(try await !ada.imagePath(ids[0], size: "thumb").isEmpty)
    }

    @Test(arguments: TestedProvider.onePerLanguage)
    func `many calls cause few requests`(provider: TestedProvider) async throws {
        let (fixture, ada) = try await logIn(to: provider.serviceFixture())
        let countBefore = fixture.requestCount
        // Some providers request the feed during the login.
        let before = fixture.service.requests(fixture.pattern(.feed)).count
        let gate = fixture.service.hold(fixture.pattern(.feed))
        let calls = (0..<20).map { _ in Task { try await ada.ids(count: 10) } }
        try await fixture.service.waitForRequests(fixture.pattern(.feed), count: before + 1)
        gate.release()
        let page = try await calls[0].value
        #expect(page.count == 10)
        for call in calls { #expect(try await call.value == page) }
        #expect(
            fixture.service.requests(fixture.pattern(.feed)).count == before
                + fixture.requestsPerPage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    switch number % 5 {
                    case 0: _ = try await ada.ids(count: 10)
                    case 1: _ = try await ada.ids(count: UInt32(1 + number % 20))
                    case 2: _ = try await ada.photo(page[0])
                    case 3: _ = try await ada.sources()
                    default: _ = try await ada.ids(fixture.otherSource)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(fixture.requestCount <= countBefore + 5 + fixture.requestsPerPage)
    }

    /// The faults of a service that fail a request.
    nonisolated private static let faults: [Fault] = [
        .json("{}"), .json("[{\"id\":"), .json("[1, null, {\"id\": {}}]"), .json(""), .truncated,
        .endless, .htmlPage, .reset, .htmlStatus(503), .htmlStatus(404), .htmlStatus(403),
        .textStatus(500, "no"), .redirect(to: "https://\u{1}/"),
        .redirect(to: "file:///etc/passwd"),
    ]

    @Test(arguments: TestedProvider.withFaults)
    func `a fault fails only its call`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.serviceFixture())
        let path = fixture.pattern(.feed).text.split(separator: " ").last.map(String.init) ?? ""
        for (number, fault) in (Self.faults + [.redirect(307, to: path)]).enumerated() {
            fixture.service.fail(fixture.pattern(.feed), fault)
            let reply = await errorReply { _ = try await ada.refresh("") }
            #expect(
                reply?.name == ServiceError.serviceFailed.name,
                "fault \(number): \(reply?.message ?? "")")
            #expect(reply?.message.hasSuffix(".") == true, "fault \(number)")
            #expect(try await ada.ids() == ids)
            fixture.service.recover(fixture.pattern(.feed))
            _ = try await ada.refresh("")
        }
        for fault in [Fault.htmlPage, .truncated, .reset, .htmlStatus(500), .json("")] {
            fixture.service.fail(fixture.pattern(.images), fault)
            let reply = await errorReply { _ = try await ada.imagePath(ids[1], size: "regular") }
            let names = [ServiceError.serviceFailed.name, ServiceError.notFound.name]
            #expect(names.contains { $0 == reply?.name }, "\(reply?.message ?? "")")
            fixture.service.recover(fixture.pattern(.images))
        }
        #expect(try await !ada.imagePath(ids[1], size: "regular").isEmpty)
        let newest = try await fixture.publish()
        #expect(try await ada.refresh("") == 1)
        #expect(try await ada.ids().first == newest)
        #expect(try await fixture.property(ada, "State") == .string("ready"))
    }

    @Test(arguments: [TestedProvider.unsplash, .rss])
    func `a call ends in time with an unresponsive service`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.serviceFixture())
        fixture.service.fail(fixture.pattern(.feed), .silence)
        fixture.service.fail(fixture.pattern(.images), .silence)
        // After 25 s without a reply, the error would be `NoReply`.
        await expectError(.serviceFailed) { _ = try await ada.refresh("") }
        #expect(try await ada.ids() == ids)
        fixture.service.recover(fixture.pattern(.feed))
        fixture.service.disconnect()
    }

    @Test(arguments: TestedProvider.onePerSecret)
    func `an account continues with an unlocked keyring`(provider: TestedProvider) async throws {
        let (fixture, ada, ids) = try await readFeed(of: provider.secretFixture())
        try await fixture.daemon.stop()
        let keyring = try PrivateKeyring.current.connect()
        try await keyring.lock()
        let recording = try await BusRecording()
        let count = fixture.requestCount
        try await fixture.start()
        try await fixture.wait(ada, "locked")
        #expect(try await ada.ids() == ids)
        await expectError(.secretStoreLocked) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == .queued)
        let traffic = try await recording.text()
        // Only a user's login may prompt.
        #expect(!traffic.contains("member=Prompt") && !traffic.contains("member=Unlock\n"))
        #expect(fixture.requestCount == count)
        try await keyring.unlock()
        try await fixture.wait(ada, "ready")
        try await fixture.waitForLikes(ada)
        _ = try await ada.refresh("")
        #expect(try await fixture.accounts() == [fixture.accountID("ada")])
    }
}
