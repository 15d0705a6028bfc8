package import DBus
package import LoopbackHTTP

/// A simulated user service manager, which neither moves processes nor starts programs. Each of its jobs ends at once.
///
/// Source: org.freedesktop.systemd1(5).
@MainActor
package final class FakeServiceManager {
    /// The arguments of a call of `StartTransientUnit`.
    package struct Unit: Sendable {
        package let name: String
        package let mode: String
        package let properties: [String: Variant]
    }

    package let units = Observed<[Unit]>([])
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object = ExportedObject("/org/freedesktop/systemd1")
    private let result: String

    private static let interfaceName: InterfaceName = "org.freedesktop.systemd1.Manager"

    /// - Parameter result: The result of every job.
    /// - Throws: `BusError`.
    package init(result: String = "done") async throws {
        self.result = result
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: "/org/freedesktop/systemd1") {
            ErrorReply(.failed, "\($0)")
        }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName("org.freedesktop.systemd1", replacing: false) {}
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
                    interfaceName, "JobRemoved", UInt32(1), path, name, manager.result)
                return path
            },
            .signal(
                "JobRemoved", ["id", "job", "unit", "result"], UInt32.self, ObjectPath.self,
                String.self, String.self),
        ])
}
