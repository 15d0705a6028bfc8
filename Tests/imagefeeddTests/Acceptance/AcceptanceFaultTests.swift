import BusAPI
import DBus
import Glibc
import ServiceSimulator
import TestSupport
import Testing

/// Tests of services that are unavailable, limit requests or send invalid responses, at every remote provider.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct AcceptanceFaultTests {
    @Test(arguments: TestedProvider.withFaultsAndLikes)
    func `a like is queued while the service is unavailable`(provider: TestedProvider) async throws
    {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        try await world.daemon.stop()
        world.service.stop()
        try await world.start()
        try await world.wait(ada, "offline")
        #expect(try await ada.like(ids[0]) == "queued")
        // Resume soon, because the delays between retries increase.
        try world.service.resume()
        try await world.wait(ada, "ready")
        try await world.waitForLikes(ada)
        #expect(try await world.likes(of: "ada") == world.likeGroup(ids[0]))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withFaults)
    func `cached data are served while the service is unavailable`(provider: TestedProvider)
        async throws
    {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        try await world.daemon.stop()
        world.service.stop()
        try await world.start()
        #expect(try await world.ids(ada) == ids)
        try await world.wait(ada, "offline")
        #expect(try #require(try await world.property(ada, "RetryAt")?.int64) > 0)
        #expect(try await world.ids(ada) == ids)
        #expect(try await ada.photo(ids[0])["id"] == .string(ids[0]))
        await expectError(ServiceError.offline.name) { _ = try await ada.refresh("") }
        #expect(try await Terminal.run("refresh").exit == .code(75))
        try world.service.resume()
        try await world.wait(ada, "ready")
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withFaults)
    func `no request is sent during a rate limit`(provider: TestedProvider) async throws {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.exhaust()
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        let properties = try await ada.properties(.account)
        #expect(properties["State"] == .string("rate-limited"))
        #expect(try #require(properties["RetryAt"]?.int64) >= Int64(time(nil)))
        #expect(properties["StateReason"]?.string?.isEmpty == false)
        let count = world.requestCount
        #expect(try await world.ids(ada) == ids)
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        await expectError(ServiceError.rateLimited.name) {
            _ = try await ada.refresh(world.otherSource)
        }
        #expect(try await Terminal.run("refresh").exit == .code(75))
        #expect(world.requestCount == count)
        // Images are not requests to the API.
        #expect(try await !ada.imagePath(ids[0], size: "thumb").isEmpty)
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withFaults)
    func `equal concurrent calls share one request and many calls cause few requests`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let countBefore = world.requestCount
        // Some providers request the feed during the login.
        let before = world.service.requests(world.pattern(.feed)).count
        let gate = world.service.hold(world.pattern(.feed))
        let calls = (0..<20).map { _ in Task { try await world.ids(ada, count: 10) } }
        try await world.service.waitForRequests(world.pattern(.feed), count: before + 1)
        gate.release()
        let page = try await calls[0].value
        #expect(page.count == 10)
        for call in calls { #expect(try await call.value == page) }
        #expect(
            world.service.requests(world.pattern(.feed)).count == before + world.requestsPerPage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    switch number % 5 {
                    case 0: _ = try await world.ids(ada, count: 10)
                    case 1: _ = try await world.ids(ada, count: UInt32(1 + number % 20))
                    case 2: _ = try await ada.photo(page[0])
                    case 3: _ = try await ada.sources()
                    default: _ = try await world.ids(ada, world.otherSource)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(world.requestCount <= countBefore + 4 + world.requestsPerPage)
        try await world.daemon.stop()
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
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        let path = world.pattern(.feed).text.split(separator: " ").last.map(String.init) ?? ""
        for (number, fault) in (Self.faults + [.redirect(307, to: path)]).enumerated() {
            world.service.fail(world.pattern(.feed), fault)
            let reply = await errorReply { _ = try await ada.refresh("") }
            #expect(
                reply?.name == ServiceError.serviceFailed.name,
                "fault \(number): \(reply?.message ?? "")")
            #expect(reply?.message.hasSuffix(".") == true, "fault \(number)")
            #expect(try await world.ids(ada) == ids)
            world.service.recover(world.pattern(.feed))
            _ = try await ada.refresh("")
        }
        for fault in [Fault.htmlPage, .truncated, .reset, .htmlStatus(500), .json("")] {
            world.service.fail(world.pattern(.images), fault)
            let reply = await errorReply { _ = try await ada.imagePath(ids[1], size: "regular") }
            let names = [ServiceError.serviceFailed.name, ServiceError.notFound.name]
            #expect(names.contains { $0 == reply?.name }, "\(reply?.message ?? "")")
            world.service.recover(world.pattern(.images))
        }
        #expect(try await !ada.imagePath(ids[1], size: "regular").isEmpty)
        let newest = try await world.publish()
        #expect(try await ada.refresh("") == 1)
        #expect(try await world.ids(ada).first == newest)
        #expect(try await world.property(ada, "State") == .string("ready"))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.onePerLanguage)
    func `a call ends in time with an unresponsive service`(provider: TestedProvider) async throws {
        let world = try await provider.serviceWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.service.fail(world.pattern(.feed), .silence)
        world.service.fail(world.pattern(.images), .silence)
        let start = ContinuousClock.now
        await expectError(ServiceError.serviceFailed.name) { _ = try await ada.refresh("") }
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try await world.ids(ada) == ids)
        world.service.recover(world.pattern(.feed))
        world.service.disconnect()
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withSecret)
    func `an account continues when its locked keyring is unlocked`(provider: TestedProvider)
        async throws
    {
        let world = try await provider.secretWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        try await world.daemon.stop()
        let keyring = try PrivateKeyring.current.connect()
        try await keyring.lock()
        let recording = try await BusRecording()
        let count = world.requestCount
        try await world.start()
        try await world.wait(ada, "locked")
        #expect(try await world.ids(ada) == ids)
        await expectError(ServiceError.secretStoreLocked.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == "queued")
        let traffic = try await recording.text()
        // Only a user's login may prompt.
        #expect(!traffic.contains("member=Prompt") && !traffic.contains("member=Unlock\n"))
        #expect(world.requestCount == count)
        try await keyring.unlock()
        try await world.wait(ada, "ready")
        try await world.waitForLikes(ada)
        _ = try await ada.refresh("")
        #expect(try await world.accounts() == [world.accountID("ada")])
        try await world.daemon.stop()
    }
}
