import DBus
import TestSupport

/// A notification service with the capabilities that the test sets.
///
/// Source: Desktop Notifications Specification 1.2.
@MainActor
final class FakeNotifications {
    /// A call of `Notify`.
    struct Shown: Hashable, Sendable {
        let id: UInt32
        let replaces: UInt32
        let application: String
        let icon: String
        let summary: String
        let body: String
        let actions: [String]
        let hints: [String: Variant]
    }

    static let everything = ["actions", "body", "body-markup", "persistence"]

    let shown = Observed<[Shown]>()
    let closed = Observed<[UInt32]>()
    /// The number of calls of `GetCapabilities`.
    let questions = Observed(0)
    /// True while the service does not reply.
    let isSilent = Observed(false)
    let connection: BusConnection
    private let capabilities: [String]
    private let tree: ObjectTree
    private let object = ExportedObject("/org/freedesktop/Notifications")
    private var lastID: UInt32

    static let name: BusName = "org.freedesktop.Notifications"
    private static let interfaceName: InterfaceName = "org.freedesktop.Notifications"

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - capabilities: The result of `GetCapabilities`.
    ///   - firstID: The id of the first notification.
    /// - Throws: `BusError`.
    init(_ capabilities: [String] = everything, firstID: UInt32 = 1) async throws {
        self.capabilities = capabilities
        lastID = firstID - 1
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: "/org/freedesktop/Notifications") { error in
            ErrorReply(.failed, "\(error)")
        }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(Self.name, replacing: true) {}
    }

    /// Leaves the bus.
    func stop() async throws { try await connection.releaseName(Self.name) }

    func invoke(_ action: String, _ id: UInt32, token: String? = nil) {
        if let token { object.emit(Self.interfaceName, "ActivationToken", id, token) }
        object.emit(Self.interfaceName, "ActionInvoked", id, action)
    }

    func close(_ id: UInt32, reason: UInt32) {
        object.emit(Self.interfaceName, "NotificationClosed", id, reason)
    }

    private static let interface = BusInterface<FakeNotifications>(
        interfaceName,
        [
            .asyncMethod("GetCapabilities", out: ["capabilities"]) { (service) -> [String] in
                service.questions.update { $0 += 1 }
                _ = try await service.isSilent.wait { $0 ? nil : true }
                return service.capabilities
            },
            .asyncMethod(
                "Notify",
                in: [
                    "app_name", "replaces_id", "app_icon", "summary", "body", "actions", "hints",
                    "expire_timeout",
                ], out: ["id"]
            ) {
                (
                    service, application: String, replaces: UInt32, icon: String, summary: String,
                    body: String, actions: [String], hints: [String: Variant], _: Int32
                ) -> UInt32 in
                _ = try await service.isSilent.wait { $0 ? nil : true }
                var id = replaces
                if id == 0 {
                    service.lastID += 1
                    id = service.lastID
                }
                service.shown.append(
                    Shown(
                        id: id, replaces: replaces, application: application, icon: icon,
                        summary: summary, body: body, actions: actions, hints: hints))
                return id
            },
            .method("CloseNotification", in: ["id"]) { (service: FakeNotifications, id: UInt32) in
                service.closed.append(id)
                service.close(id, reason: 3)
            },
            .signal("ActionInvoked", ["id", "action_key"], UInt32.self, String.self),
            .signal("ActivationToken", ["id", "activation_token"], UInt32.self, String.self),
            .signal("NotificationClosed", ["id", "reason"], UInt32.self, UInt32.self),
        ])
}
