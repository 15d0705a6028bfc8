import DBus
import Logging
import TestSupport
import Testing

@testable import Desktop

/// Tests with NetworkManager and logind on a private bus instead of the system bus.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct NetworkManagerWatchTests {
    private let bus: BusConnection
    private let words = Observed<[NetworkStatus.ManagerState?]>()

    init() throws { bus = try PrivateBus.current.connect() }

    private func watch() async throws -> NetworkManagerWatch {
        try await NetworkManagerWatch(bus) { [words] in words.append($0) }
    }

    @Test func `the first state and its changes are reported`() async throws {
        let manager = try await FakeNetworkManager(state: 20)
        let watch = try await watch()
        #expect(
            words.value == [.init(state: 20, connectivity: 4, metered: 4, primaryConnection: "/")])
        manager.state = 70
        manager.metered = 1
        _ = try await words.elements(2)
        #expect(
            words.value.last
                == .init(state: 70, connectivity: 4, metered: 1, primaryConnection: "/"))
        withExtendedLifetime(watch) {}
    }

    @Test func `the primary connection is reported`() async throws {
        let manager = try await FakeNetworkManager()
        let watch = try await watch()
        #expect(words.value.last??.primaryConnection == "/")
        manager.primaryConnection = "/org/freedesktop/NetworkManager/ActiveConnection/2"
        _ = try await words.elements(2)
        let path = "/org/freedesktop/NetworkManager/ActiveConnection/2"
        #expect(words.value.last??.primaryConnection == path)
        withExtendedLifetime(watch) {}
    }

    @Test func `the start and the end of NetworkManager are reported`() async throws {
        let watch = try await watch()
        #expect(words.value.isEmpty)
        let manager = try await FakeNetworkManager(state: 60)
        #expect(
            try await words.elements(1) == [
                .init(state: 60, connectivity: 4, metered: 4, primaryConnection: "/")
            ])
        try await manager.stop()
        #expect(try await words.elements(2).last == .some(nil))
        withExtendedLifetime(watch) {}
    }

    @Test func `NetworkManager is not activated`() async throws {
        let directory = try PrivateBus.current.directory
        try PrivateBus.current.addService(
            FakeNetworkManager.name, command: "/usr/bin/touch \(directory.appending("started"))")
        let watch = try await watch()
        _ = try await bus.owner(of: FakeNetworkManager.name)
        #expect(!directory.has("started"))
        withExtendedLifetime(watch) {}
    }

    @Test func `signals of other senders are ignored`() async throws {
        _ = try await FakeNetworkManager()
        let watch = try await watch()
        let stranger = try PrivateBus.current.connect()
        stranger.send(
            try BusMessage(
                .signal(
                    "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Properties",
                    "PropertiesChanged"), "org.freedesktop.NetworkManager",
                ["State": Variant.uint32(20)], [String]()))
        _ = try await stranger.owner(of: FakeNetworkManager.name)
        _ = try await bus.owner(of: FakeNetworkManager.name)
        #expect(words.value.count == 1)
        withExtendedLifetime(watch) {}
    }

    @Test func `a system bus that starts after the first attempt is used`() async throws {
        let manager = try await FakeNetworkManager(state: 20)
        let address = try PrivateBus.current.address
        let attempts = Observed(0)
        let statuses = Observed<[NetworkStatus]>()
        let watch = NetworkWatch(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onChange: { statuses.append($0) }, onResume: {}, onNetworkChange: {},
            systemAddress: {
                attempts.update { $0 += 1 }
                guard attempts.value > 1 else { throw BusError.noBus("it has not started") }
                return address
            })
        try await poll {
            watch.listenToSystem()
            return statuses.value.last?.manager?.state == 20
        }
        #expect(attempts.value == 2)
        withExtendedLifetime((watch, manager)) {}
    }

    @Test func `a resume is reported, a suspend is not`() async throws {
        let logind = try await FakeLogind()
        let resumes = Observed(0)
        let watch = try await bus.watchResume { resumes.update { $0 += 1 } }
        for isAboutToSleep in [true, false] { try await logind.announceSleep(isAboutToSleep) }
        try await resumes.wait { $0 == 1 ? true : nil }
        #expect(resumes.value == 1)
        withExtendedLifetime(watch) {}
    }
}
