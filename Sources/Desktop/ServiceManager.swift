internal import DBus
internal import Glibc
internal import System

/// The user's service manager, which starts programs without the limits that our own unit has.
///
/// Source: org.freedesktop.systemd1(5).
final class ServiceManager {
    private static let name: BusName = "org.freedesktop.systemd1"
    private static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"

    private let connection: BusConnection
    private let manager: BusProxy
    private var count = 0

    init(_ connection: BusConnection) {
        self.connection = connection
        manager = BusProxy(connection, Self.name, "/org/freedesktop/systemd1")
    }

    /// Runs a program in a unit of its own, which outlives us.
    ///
    /// - Parameters:
    ///   - program: A name to look for in the manager's path.
    ///   - arguments: What follows the name of the program.
    ///   - timeout: How long it may take until it counts as successful. It goes on.
    /// - Returns: Whether it succeeded.
    /// - Throws: `BusError` without a manager, or when that cannot start anything.
    func run(
        _ program: String, _ arguments: [String], timeout: Duration
    ) async throws -> Bool {
        let results = JobResults()
        let removals = try await connection.subscribe(
            MatchRule(sender: Self.name, interface: Self.interface, member: "JobRemoved")
        ) { signal in
            // Arguments of other types are a signal of another contract.
            guard let (_, job, _, result): (UInt32, ObjectPath, String, String) = try? signal.read()
            else { return }
            results[job].complete(.success(result))
        }
        defer { withExtendedLifetime(removals) {} }
        let job = try await start(program, arguments)
        let result = results[job]
        let timer = MainLoopTimer(after: timeout) { result.complete(.success("done")) }
        defer { timer.cancel() }
        return await result.value() == "done"
    }

    private func start(_ program: String, _ arguments: [String]) async throws -> ObjectPath {
        count += 1
        let command = Variant.structure([
            .string(program), .array(([program] + arguments).map { .string($0) }, of: "s"),
            .bool(false),
        ])
        let properties: [BusStruct<String, Variant>] = [
            BusStruct("Description", Variant.string("\(program), for Image Feed")),
            // Done when the program ends; what it leaves behind, a browser, stays.
            BusStruct("Type", Variant.string("oneshot")),
            BusStruct("KillMode", Variant.string("process")),
            BusStruct("CollectMode", Variant.string("inactive-or-failed")),
            // What it says may have the address in it, which is nobody's business.
            BusStruct("StandardOutput", Variant.string("null")),
            BusStruct("StandardError", Variant.string("null")),
            BusStruct("ExecStart", Variant.array([command], of: "(sasb)")),
        ]
        let others: [BusStruct<String, [BusStruct<String, Variant>]>] = []
        return try await manager.call(
            Self.interface, "StartTransientUnit",
            "imagefeed-\(program)-\(getpid())-\(count).service",
            "fail", properties, others)
    }

    /// The results of jobs. The signal with a result may precede the reply with the path of the job.
    private final class JobResults {
        private var results: [ObjectPath: OneShotResult<String, Never>] = [:]

        /// The result of a job.
        subscript(job: ObjectPath) -> OneShotResult<String, Never> {
            if let result = results[job] { return result }
            let result = OneShotResult<String, Never>()
            results[job] = result
            return result
        }
    }
}
