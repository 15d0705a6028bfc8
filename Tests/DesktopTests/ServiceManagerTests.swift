import DBus
import Desktop
import Glibc
import TestSupport
import Testing

/// Tests of the calls to the user's service manager.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct ServiceManagerTests {
    @Test func `a process is moved into a scope with limits`() async throws {
        let service = try await FakeServiceManager()
        let manager = ServiceManager(try PrivateBus.current.connect())
        try await manager.limit(
            getpid(), name: "odd", memoryBytes: 576 << 20, tasks: 34, timeout: .seconds(60))
        let unit = try #require(service.units.value.first)
        #expect(unit.name.hasPrefix("imagefeed-\(getpid())-") && unit.name.hasSuffix("-odd.scope"))
        #expect(unit.mode == "fail")
        #expect(
            unit.properties == [
                "Description": .string("A plugin of Image Feed"),
                "PIDs": .array([.uint32(UInt32(getpid()))], of: "u"),
                "MemoryMax": .uint64(576 << 20), "MemorySwapMax": .uint64(0),
                "TasksMax": .uint64(34), "CPUQuotaPerSecUSec": .uint64(1_000_000),
                "CollectMode": .string("inactive-or-failed"),
            ])
        try await manager.limit(
            getpid(), name: "odd", memoryBytes: 1 << 20, tasks: 1, timeout: .seconds(60))
        #expect(Set(service.units.value.map(\.name)).count == 2)
    }

    @Test func `without a service manager, the call fails`() async throws {
        let manager = ServiceManager(try PrivateBus.current.connect())
        await #expect(throws: BusError.self) {
            try await manager.limit(
                getpid(), name: "odd", memoryBytes: 1 << 20, tasks: 1, timeout: .seconds(60))
        }
    }
}
