import DBus
import TestSupport

/// A fake window that records its actions.
@MainActor final class FakeViewer {
    /// The actions with their parameters.
    let calls = Observed<[String]>([])
    private let connection: BusConnection
    private let tree: ObjectTree

    private static let interface = BusInterface<FakeViewer>(
        "org.freedesktop.Application",
        [
            .method("ActivateAction", in: ["action", "parameters", "platform_data"], out: []) {
                (viewer, action: String, parameters: [Variant], _: [String: Variant]) in
                viewer.calls.append("\(action) \(parameters.compactMap(\.string).joined())")
            }
        ])

    init(_ connection: BusConnection) async throws {
        self.connection = connection
        let path: ObjectPath = "/org/imagefeed/Viewer"
        tree = ObjectTree(connection, root: path) { ErrorReply(.failed, "\($0)") }
        let object = ExportedObject(path)
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName("org.imagefeed.Viewer", replacing: false, onLost: {})
    }
}
