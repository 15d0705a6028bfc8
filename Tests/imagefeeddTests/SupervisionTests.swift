import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests with a daemon whose environment is that of a systemd service.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SupervisionTests {
    @Test(arguments: [("done", true), ("failed", false)])
    func `a browser is started by systemd, outside the limits of the daemon`(
        result: String, isOpen: Bool
    ) async throws {
        let manager = try await FakeServiceManager(result)
        let fixture = try await UnsplashFixture(launcher: [
            "/bin/sh", "-c", #"SYSTEMD_EXEC_PID=$$ exec "$0" "$@""#,
        ])
        let (login, url) = try await fixture.startLogin()
        if isOpen {
            try await login.openBrowser()
        } else {
            await expectError(ServiceError.notSupported.name) { try await login.openBrowser() }
        }
        let command = try #require(manager.commands.value.first)
        #expect(command == ["xdg-open", "xdg-open", url])
        try await login.cancel()
    }

    @Test(arguments: [true, false])
    func `the journal gets priority prefixes and a terminal gets level names`(isJournal: Bool)
        async throws
    {
        try RunningDaemon.configure("nonsense\n")
        let stream = isJournal ? "$(stat -L -c %d:%i /dev/stderr)" : "1:2"
        let daemon = try await RunningDaemon(launcher: [
            "/bin/sh", "-c", "JOURNAL_STREAM=\(stream) exec \"$0\" \"$@\"",
        ])
        let line = try await daemon.process.standardError.wait { output in
            output.text.split(separator: "\n").first { $0.contains("configuration") }.map(
                String.init)
        }
        #expect(line.hasPrefix(isJournal ? "<4>A part" : "imagefeedd: warning: A part"), "\(line)")
    }
}

/// A simulated user service manager that starts programs, which all end with the same result.
@MainActor
private final class FakeServiceManager {
    let commands = Observed<[[String]]>([])
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object: ExportedObject
    private let result: String

    init(_ result: String) async throws {
        self.result = result
        let path: ObjectPath = "/org/freedesktop/systemd1"
        object = ExportedObject(path)
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: path) { ErrorReply(.failed, "\($0)") }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(
            "org.freedesktop.systemd1", replacing: false, onLost: {})
    }

    private static let interface = BusInterface<FakeServiceManager>(
        "org.freedesktop.systemd1.Manager",
        [
            .method(
                "StartTransientUnit", in: ["name", "mode", "properties", "aux"], out: ["job"]
            ) {
                (
                    manager, name: String, _: String, properties: [BusStruct<String, Variant>],
                    _: [BusStruct<String, [BusStruct<String, Variant>]>]
                ) -> ObjectPath in
                let (job, number): (ObjectPath, UInt32) = ("/org/freedesktop/systemd1/job/7", 7)
                let commands = properties.first { $0.elements.0 == "ExecStart" }?.elements.1
                if case .array(let list, _)? = commands, case .structure(let fields)? = list.first {
                    manager.commands.append(
                        [fields[0].string ?? ""] + (fields[1].strings ?? []))
                }
                manager.object.emit(
                    "org.freedesktop.systemd1.Manager", "JobRemoved", number, job, name,
                    manager.result)
                return job
            },
            .signal(
                "JobRemoved", ["id", "job", "unit", "result"], UInt32.self, ObjectPath.self,
                String.self, String.self),
        ])
}
