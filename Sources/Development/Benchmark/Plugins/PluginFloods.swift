internal import Contract
internal import DBus
internal import Glibc
internal import LoopbackHTTP

/// A comparison of the duration of calls to other accounts with and without plugins that flood the daemon.
///
/// Both alternate, because the load of the machine varies. The floods are those of `dist/development/flood-plugin.py`.
final class PluginFloods {
    private static let floods = [
        ("log", "Logs of 8 MiB"), ("values", "65,000 values"),
        ("rates", "900 notifications/s"), ("requests", "900 requests/s"),
        ("silent", "Silent servers"), ("large", "Responses of 8 MiB"),
        ("unread", "Unread responses"), ("incomplete", "Incomplete message"),
        ("packets", "Single bytes"),
        ("errors", "Standard error"),
    ]
    private static let rounds = 3
    private static let restTime = Duration.seconds(1)

    private let folder: ScratchFolder
    private let servers: [LoopbackServer]

    /// - Throws: `BenchmarkError`, `SystemError`.
    init() throws {
        folder = try ScratchFolder(photos: 100)
        try folder.addPhotos()
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20)
        servers = try (0..<8).map { _ in
            try LoopbackServer { request in
                switch request.path {
                case "/silent": LoopbackResponse(steps: [.silence])
                case "/large": LoopbackResponse(body: body)
                default: LoopbackResponse(text: "ok")
                }
            }
        }
        try folder.addFloods(
            Self.floods.map(\.0) + ["calm"], seconds: 3, servers: servers.map(\.origin))
    }

    /// Measures each flood, and all of them at the same time.
    func measure(_ daemon: String) async throws -> [Table.Row] {
        let fixture = try await DaemonFixture(daemon, PrivateBus(environment: folder.environment))
        try await fixture.start()
        let local = try await fixture.addUsers(1, photos: 100)
        var accounts: [AccountClient] = []
        for (flood, _) in Self.floods { accounts.append(try await logIn(flood, fixture)) }
        let neighbours = Neighbours(fixture, local, try await logIn("calm", fixture))
        // Starts the plugins, and waits for the end of their first floods.
        for account in accounts { _ = try? await account.refresh("") }
        let process = ProcessFigures(fixture.id)
        var rows: [Table.Row] = []
        for (account, (_, name)) in zip(accounts, Self.floods) {
            rows += try await measure(name, neighbours, [account], process)
        }
        rows += try await measure("All floods", neighbours, accounts, process)
        let names = Set(Self.floods.map { "flood_\($0.0)" })
        let disabled = try await fixture.service.objects().values.count { object in
            let properties = object[InterfaceName.provider.text]
            return properties?["State"]?.string == "disabled"
                && names.contains(properties?["Id"]?.string ?? "")
        }
        try await fixture.stop()
        return rows + [Table.Row("Floods that the daemon disabled", "\(disabled)")]
    }

    private func logIn(_ flood: String, _ fixture: DaemonFixture) async throws -> AccountClient {
        let login = try await fixture.service.startLogin(
            "flood_\(flood)", [.username: .string("ada")])
        return fixture.service.account(try await fixture.service.login(login).wait())
    }

    private func measure(
        _ name: String, _ neighbours: Neighbours, _ accounts: [AccountClient],
        _ process: ProcessFigures
    ) async throws -> [Table.Row] {
        complain("Measuring a flood: \(name)")
        var (alone, beside) = (CallTimes(), CallTimes())
        try process.resetPeakMemory()
        for _ in 0..<Self.rounds {
            let end = ContinuousClock.now + Self.restTime
            try await neighbours.call(&alone) { ContinuousClock.now < end }
            let flood = Flood(accounts)
            try await neighbours.call(&beside) { flood.isRunning }
        }
        return [
            row("\(name), local account", alone.local, beside.local),
            row("\(name), other plugin", alone.plugin, beside.plugin),
            Table.Row(
                "\(name), resident", "\(try process.peakMemory() >> 10) MiB", processor: "60 MiB"),
        ]
    }

    private func row(_ name: String, _ alone: [Duration], _ beside: [Duration]) -> Table.Row {
        Table.Row(
            name, fixed(beside.median / alone.median, digits: 2),
            ratio: fixed(beside.percentile95 / alone.percentile95, digits: 2), processor: "1.50")
    }
}

private struct CallTimes {
    var local: [Duration] = []
    var plugin: [Duration] = []
}

/// The measured accounts: one of a built-in provider, and one of a plugin that does not flood the daemon.
private final class Neighbours {
    private let connection: BusConnection
    private let local: ObjectPath
    private let plugin: AccountClient
    private var nextCount: UInt32 = 20

    init(_ fixture: DaemonFixture, _ local: ObjectPath, _ plugin: AccountClient) {
        connection = fixture.connection
        self.local = local
        self.plugin = plugin
    }

    /// Makes calls while a condition is true, with short pauses, because users make pauses, too.
    func call(_ times: inout CallTimes, while condition: () -> Bool) async throws {
        while condition() {
            // Requests more different pages than the daemon prepares.
            nextCount = nextCount == 60 ? 20 : nextCount + 1
            times.local.append(try await connection.time(.page(nextCount, of: local)))
            let start = ContinuousClock.now
            _ = try await plugin.refresh("")
            times.plugin.append(.now - start)
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// The floods in progress: calls to plugins that return when the floods end.
private final class Flood {
    private var running: Int

    init(_ accounts: [AccountClient]) {
        running = accounts.count
        for account in accounts {
            Task {
                // The call fails if the daemon ended the plugin.
                _ = try? await account.refresh("")
                running -= 1
            }
        }
    }

    var isRunning: Bool { running > 0 }
}
