package import DBus

/// A fake NetworkManager on the bus of the running test, with properties that the test sets.
@MainActor
package final class FakeNetworkManager {
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object = ExportedObject("/org/freedesktop/NetworkManager")
    package var state: UInt32 = 70 { didSet { object.announceChanges() } }
    package var connectivity: UInt32 = 4 { didSet { object.announceChanges() } }
    package var metered: UInt32 = 4 { didSet { object.announceChanges() } }
    /// The object path of the primary connection.
    package var primaryConnection: ObjectPath = "/" { didSet { object.announceChanges() } }

    package static let name: BusName = "org.freedesktop.NetworkManager"

    package init(state: UInt32 = 70) async throws {
        self.state = state
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: "/org/freedesktop") { ErrorReply(.failed, "\($0)") }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(Self.name, replacing: true) {}
    }

    /// Releases the bus name.
    package func stop() async throws { try await connection.releaseName(Self.name) }

    private static let interface = BusInterface<FakeNetworkManager>(
        "org.freedesktop.NetworkManager",
        [
            .property("State") { $0.state },
            .property("Connectivity") { $0.connectivity },
            .property("Metered") { $0.metered },
            .property("PrimaryConnection") { $0.primaryConnection },
        ])
}
