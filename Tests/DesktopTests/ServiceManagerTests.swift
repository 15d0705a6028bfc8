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

/// A simulated user service manager, which does not move processes.
///
/// Source: org.freedesktop.systemd1(5).
@MainActor
private final class FakeServiceManager {
    struct Unit: Sendable {
        let name: String
        let mode: String
        let properties: [String: Variant]
    }

    let units = Observed<[Unit]>([])
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object = ExportedObject("/org/freedesktop/systemd1")

    private static let interfaceName: InterfaceName = "org.freedesktop.systemd1.Manager"

    init() async throws {
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: "/org/freedesktop/systemd1") {
            ErrorReply(.failed, "\($0)")
        }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(
            "org.freedesktop.systemd1", replacing: false, onLost: {})
    }

    private static let interface = BusInterface<FakeServiceManager>(
        interfaceName,
        [
            .method(
                "StartTransientUnit", in: ["name", "mode", "properties", "aux"], out: ["job"]
            ) {
                (
                    manager, name: String, mode: String, properties: [BusStruct<String, Variant>],
                    _: [BusStruct<String, [BusStruct<String, Variant>]>]
                ) -> ObjectPath in
                manager.units.append(
                    Unit(
                        name: name, mode: mode,
                        properties: properties.reduce(into: [:]) {
                            $0[$1.elements.0] = $1.elements.1
                        }))
                let job = "/org/freedesktop/systemd1/job/\(manager.units.value.count)"
                let path = try ObjectPath(job)
                manager.object.emit(
                    interfaceName, "JobRemoved", UInt32(1), path, name, "done")
                return path
            },
            .signal(
                "JobRemoved", ["id", "job", "unit", "result"], UInt32.self, ObjectPath.self,
                String.self, String.self),
        ])
}
