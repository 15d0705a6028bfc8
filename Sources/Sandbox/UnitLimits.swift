internal import Glibc

/// The limits of the daemon's systemd unit, compared with the limits that are in force.
///
/// A user's service manager silently drops a limit that the kernel, AppArmor or the control groups do not allow.
///
/// Sources: systemd.exec(5), `PrivateUsers=`; proc_pid_status(5), user_namespaces(7), proc_pid_mountinfo(5),
/// cgroups(7).
package enum UnitLimits {
    /// Compares the limits with the files of a process.
    ///
    /// - Parameters:
    ///   - status: `/proc/self/status`.
    ///   - identities: `/proc/self/uid_map`.
    ///   - mounts: `/proc/self/mountinfo`.
    ///   - home: The user's home directory.
    ///   - groupLimits: `memory.max` and `pids.max` of the control group; nil for a file that does not exist.
    /// - Returns: The unit options that are not in force, of those that can be checked.
    package static func missing(
        status: String, identities: String, mounts: String, home: String,
        groupLimits: (memory: String?, tasks: String?)
    ) -> [String] {
        let values = Dictionary(
            status.split(separator: "\n").map { line in
                let name = line.prefix { $0 != ":" }
                return (name, line.dropFirst(name.count + 1).filter { !$0.isWhitespace })
            }, uniquingKeysWith: { first, _ in first })
        let mounts = Mount.all(in: Array(mounts.utf8))
        let isReadOnly = { (path: String) in
            Mount.containing(Array(path.utf8), in: mounts)?.isReadOnly ?? true
        }
        // The initial namespace maps all identities to themselves.
        let isOwnNamespace =
            identities.split { $0.isWhitespace }.elementsEqual(["0", "0", "4294967295"]) == false
        let isLimited = { (value: String?) in
            value.map { !$0.isEmpty && !$0.hasPrefix("max") } ?? false
        }
        return [
            ("PrivateUsers", isOwnNamespace),
            ("ProtectSystem", isReadOnly("/usr") && isReadOnly("/var")),
            ("ProtectHome", isReadOnly(home)),
            ("NoNewPrivileges", values["NoNewPrivs"] == "1"),
            ("SystemCallFilter", values["Seccomp"] == "2"),
            ("MemoryMax", isLimited(groupLimits.memory)),
            ("TasksMax", isLimited(groupLimits.tasks)),
        ].filter { !$0.1 }.map(\.0)
    }

    /// Compares the limits with those of this process. Reads a few small kernel files.
    ///
    /// - Parameter home: The user's home directory.
    /// - Returns: The unit options that are not in force; empty if the kernel files cannot be read.
    package static func missing(home: String) -> [String] {
        guard let status = KernelFile.text("/proc/self/status"),
            let mounts = KernelFile.text("/proc/self/mountinfo"),
            let identities = KernelFile.text("/proc/self/uid_map")
        else { return [] }
        return missing(
            status: status, identities: identities, mounts: mounts, home: home,
            groupLimits: (groupFile("memory.max", of: "self"), groupFile("pids.max", of: "self")))
    }

    /// True if the control group of this process, and those that the service manager makes beside it, count memory.
    package static var hasMemoryController: Bool { groupFile("memory.max", of: "self") != nil }

    /// Returns the memory limit of the control group of a process.
    ///
    /// - Parameter process: The ID of the process.
    /// - Returns: The limit in bytes; nil if there is none, or if the group has no memory controller.
    package static func memoryLimit(of process: Int32) -> Int? {
        groupFile("memory.max", of: "\(process)")?.split { $0.isWhitespace }.first
            .flatMap { Int($0) }
    }

    /// Returns a file of the control group of a process; nil if it does not exist.
    private static func groupFile(_ name: String, of process: String) -> String? {
        // Source: cgroups(7): the hierarchy ID of the unified hierarchy is 0.
        let group = KernelFile.text("/proc/\(process)/cgroup")?.split(separator: "\n")
            .first { $0.hasPrefix("0::") }?.dropFirst(3)
        return group.flatMap { KernelFile.text("/sys/fs/cgroup\($0)/\(name)") }
    }
}

/// The decision whether a process may start another thread.
///
/// A permitted thread appears in the count only some time later. Until then, the budget counts it in advance.
package struct ThreadBudget {
    /// The number of threads that the process may have, the main thread included.
    private let limit: Int
    /// The time when each thread was last permitted to start another one, by the ID of the starting thread.
    private var permitted: [Int32: ContinuousClock.Instant] = [:]
    /// The total number of permitted threads.
    private var total = 0

    /// The time in which a permitted thread appears in the count, even on a busy machine.
    static let startTime = Duration.milliseconds(100)

    /// - Parameter limit: The number of threads that the process may have, the main thread included.
    package init(limit: Int) { self.limit = limit }

    /// Decides whether a thread may start another one.
    ///
    /// - Parameters:
    ///   - starter: The ID of the thread that starts another one. Its previous start is complete.
    ///   - running: The number of running threads; nil if it is unknown. Then no thread may replace one that has
    ///     ended.
    ///   - now: The current time.
    /// - Returns: True if the thread may start.
    package mutating func permitsStart(
        by starter: Int32, running: Int?, now: ContinuousClock.Instant
    ) -> Bool {
        permitted[starter] = nil
        permitted = permitted.filter { $0.value + Self.startTime > now }
        let count = running.map { $0 + permitted.count } ?? total + 1
        guard count < limit else { return false }
        permitted[starter] = now
        total += 1
        return true
    }
}
