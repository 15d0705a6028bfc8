package import DBus
internal import Glibc
internal import System

/// The user's service manager, which starts programs without the restrictions of the daemon's unit, and limits
/// processes.
///
/// Source: org.freedesktop.systemd1(5).
package final class ServiceManager {
    private static let name: BusName = "org.freedesktop.systemd1"
    private static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"

    private let connection: BusConnection
    private let manager: BusProxy
    private var count = 0

    /// True if systemd started this process as a service, so that its restrictions apply to child processes.
    ///
    /// The presence of the variable is no proof, because child processes of a service inherit it, also in terminals.
    ///
    /// Source: systemd.exec(5), `$SYSTEMD_EXEC_PID`; since version 248.
    package static let startedThisProcess =
        getenv("SYSTEMD_EXEC_PID").map { String(cString: $0) } == "\(getpid())"

    package init(_ connection: BusConnection) {
        self.connection = connection
        manager = BusProxy(connection, Self.name, "/org/freedesktop/systemd1")
    }

    /// Runs a program in a separate unit, which may outlive this process.
    ///
    /// - Parameters:
    ///   - command: The name of a program in the manager's path, and its arguments.
    ///   - timeout: The time after which the program counts as successful. It continues to run.
    /// - Returns: True if the program succeeded.
    /// - Throws: `BusError` if there is no manager, or if it cannot start the unit.
    func run(_ command: [String], timeout: Duration) async throws -> Bool {
        let program = command[0]
        let execution = Variant.structure([
            .string(program), .array(command.map { .string($0) }, of: "s"), .bool(false),
        ])
        return try await start(
            "\(program).service",
            [
                "Description": .string("\(program), for Image Feed"),
                // The job is done when the program exits; processes that it started, such as a browser, remain.
                "Type": .string("oneshot"), "KillMode": .string("process"),
                // The output may contain the address, which is private.
                "StandardOutput": .string("null"), "StandardError": .string("null"),
                "ExecStart": .array([execution], of: "(sasb)"),
            ], timeout: timeout)
    }

    /// Moves a process into a unit of its own, with limits for the process and its later children together.
    ///
    /// - Parameters:
    ///   - process: The ID of the process.
    ///   - name: The name of the unit without its suffix.
    ///   - memoryBytes: The memory, including that of the kernel, in bytes.
    ///   - tasks: The number of processes and threads.
    ///   - timeout: The time after which the function returns although the process may not have been moved.
    /// - Throws: `BusError` if there is no manager, or if it cannot start the unit.
    package func limit(
        _ process: Int32, name: String, memoryBytes: Int, tasks: Int, timeout: Duration
    ) async throws {
        _ = try await start(
            "\(name).scope",
            [
                "Description": .string("A plugin of Image Feed"),
                "PIDs": .array([.uint32(UInt32(process))], of: "u"),
                "MemoryMax": .uint64(UInt64(memoryBytes)), "MemorySwapMax": .uint64(0),
                "TasksMax": .uint64(UInt64(tasks)),
                // One processor.
                "CPUQuotaPerSecUSec": .uint64(1_000_000),
            ], timeout: timeout)
    }

    /// Starts a unit.
    ///
    /// - Returns: True if the job of the start succeeds.
    private func start(
        _ unit: String, _ properties: [String: Variant], timeout: Duration
    ) async throws -> Bool {
        // The signal with the result of the job may precede the reply with its path.
        let result = OneShotResult<String, Never>()
        var started: ObjectPath?
        var results: [ObjectPath: String] = [:]
        let removals = try await connection.subscribe(
            MatchRule(sender: Self.name, interface: Self.interface, member: "JobRemoved")
        ) { signal in
            // A signal with other argument types is not the documented one.
            guard let (_, job, _, text): (UInt32, ObjectPath, String, String) = try? signal.read()
            else { return }
            results[job] = text
            if job == started { result.complete(.success(text)) }
        }
        defer { withExtendedLifetime(removals) {} }
        count += 1
        var properties = properties
        properties["CollectMode"] = .string("inactive-or-failed")
        let others: [BusStruct<String, [BusStruct<String, Variant>]>] = []
        let job: ObjectPath = try await manager.call(
            Self.interface, "StartTransientUnit", "imagefeed-\(getpid())-\(count)-\(unit)", "fail",
            properties.map { BusStruct($0.key, $0.value) }, others, timeout: timeout)
        started = job
        if let text = results[job] { result.complete(.success(text)) }
        let timer = MainLoopTimer(after: timeout) { result.complete(.success("done")) }
        defer { timer.cancel() }
        return await result.value() == "done"
    }
}
