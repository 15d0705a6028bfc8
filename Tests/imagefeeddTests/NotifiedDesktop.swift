import DBus
import TestSupport
import Testing

/// A virtual screen with dunst on the bus of the running test.
@MainActor
final class NotifiedDesktop {
    private let screen: ChildProcess
    private let dunst: ChildProcess
    private let client: BusConnection
    private let status: BusProxy

    init() async throws {
        let bus = try PrivateBus.current
        client = try bus.connect()
        screen = try ChildProcess(
            "/usr/bin/Xvfb",
            ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
            environment: bus.environment)
        let display = try await screen.firstLine()
        dunst = try await client.waitForOwner(of: "org.freedesktop.Notifications") {
            try ChildProcess(
                "/usr/bin/dunst", [],
                environment: bus.environment.merging(["DISPLAY": ":\(display)"]) { $1 })
        }
        status = BusProxy(
            client, "org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    }

    /// The number of notifications, on the screen and in the queue.
    var count: Int {
        get async throws {
            let properties = try await status.properties("org.dunstproject.cmd0")
            return ["displayedLength", "waitingLength"].reduce(0) {
                $0 + Int(properties[$1]?.uint32 ?? 0)
            }
        }
    }

    /// Waits until the given number of notifications is on the screen.
    func showing(_ count: Int) async throws {
        // dunst has no signal for this change.
        try await poll {
            try await status.property("org.dunstproject.cmd0", "displayedLength")
                == .uint32(UInt32(count))
        }
    }

    /// Runs `dunstctl`.
    func control(_ command: String...) async throws {
        let (exit, _, error) = try await ChildProcess(
            "/usr/bin/dunstctl", command, environment: try PrivateBus.current.environment
        ).result()
        #expect(exit == .code(0), "\(error)")
    }
}

/// A simulated desktop portal that records the addresses to open.
@MainActor
final class FakePortal {
    let opened = Observed<[String]>()
    private let tree: ObjectTree
    private let object = ExportedObject("/org/freedesktop/portal/desktop")

    init() async throws {
        let connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: "/org/freedesktop/portal/desktop") { error in
            ErrorReply(.failed, "\(error)")
        }
        object.add(Self.interface, on: self)
        object.add(Self.proxies, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName("org.freedesktop.portal.Desktop", replacing: false) {}
    }

    private static let proxies = BusInterface<FakePortal>(
        "org.freedesktop.portal.ProxyResolver",
        [
            .method("Lookup", in: ["uri"], out: ["proxies"]) {
                (_: FakePortal, _: String) -> [String] in ["http://ada:secret@proxy.test:3128"]
            }
        ])

    private static let interface = BusInterface<FakePortal>(
        "org.freedesktop.portal.OpenURI",
        [
            .method("OpenURI", in: ["parent_window", "uri", "options"], out: ["handle"]) {
                (portal: FakePortal, _: String, address: String, _: [String: Variant])
                    -> ObjectPath in
                portal.opened.append(address)
                return "/org/freedesktop/portal/desktop/request/1"
            }
        ])
}
