internal import DBus
internal import Glibc
internal import System

/// The user's service manager, which starts programs without the restrictions of the daemon's unit.
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

    /// Runs a program in a separate unit, which may outlive this process.
    ///
    /// - Parameters:
    ///   - program: The name of a program in the manager's path.
    ///   - arguments: The arguments after the name of the program.
    ///   - timeout: The time after which the program counts as successful. It continues to run.
    /// - Returns: True if the program succeeded.
    /// - Throws: `BusError` if there is no manager, or if it cannot start the unit.
    func run(
        _ program: String, _ arguments: [String], timeout: Duration
    ) async throws -> Bool {
        let results = JobResults()
        let removals = try await connection.subscribe(
            MatchRule(sender: Self.name, interface: Self.interface, member: "JobRemoved")
        ) { signal in
            // A signal with other argument types is not the documented one.
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
            // The job is done when the program exits; processes that it started, such as a browser, remain.
            BusStruct("Type", Variant.string("oneshot")),
            BusStruct("KillMode", Variant.string("process")),
            BusStruct("CollectMode", Variant.string("inactive-or-failed")),
            // The output may contain the address, which is private.
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
