internal import Glibc
internal import Logging
internal import Sandbox
internal import System

/// The component that starts plugins in the strictest sandbox that is available on this computer.
final class SandboxLauncher {
    /// The sandbox of plugins; nil if there is none and the configuration requires one.
    private(set) var level: SandboxKind?
    private var levels: [SandboxKind]
    /// The levels that have started a program on this computer.
    private var proven: Set<SandboxKind> = []
    private let logger: Logger
    private var hasReportedLevel = false
    private let programs: SandboxPrograms
    /// Places the processes of plugins in control groups; nil if there are none.
    var place: PluginPlacement?

    /// - Parameters:
    ///   - levels: The levels that may be used, the strictest first.
    ///   - programs: The programs that start plugins.
    ///   - place: Places the processes of plugins in control groups; nil if there are none.
    ///   - logger: The logger for levels that are not available.
    init(
        _ levels: [SandboxKind], programs: SandboxPrograms, place: PluginPlacement? = nil,
        logger: Logger
    ) {
        self.levels = levels
        self.programs = programs
        self.place = place
        self.logger = logger
        choose()
    }

    /// Records that a level has started a program: the level is never given up.
    func recordSuccess(_ level: SandboxKind) { proven.insert(level) }

    /// Replaces a level that does not work on this computer by the next one.
    ///
    /// - Returns: False if the level has worked before, and stays.
    func giveUp(_ level: SandboxKind) -> Bool {
        guard !proven.contains(level) else { return false }
        guard self.level == level else { return true }
        levels.removeAll { $0 == level }
        choose()
        logger.warning(
            "Plugins cannot be confined as they should be",
            metadata: ["failed": "\(level)", "instead": "\(self.level?.rawValue ?? "nothing")"])
        return true
    }

    private func choose() {
        level = levels.first { level in
            switch level {
            case .bubblewrap: programs.bubblewrap != nil && Self.hasUserNamespaces
            case .landlock: FileRules.kernelVersion > 0
            case .none: true
            }
        }
    }

    /// True if user namespaces are not disabled. They may still fail when they are used.
    private static var hasUserNamespaces: Bool {
        ["/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"]
            .allSatisfy { path in
                let file = open(path, O_RDONLY | O_CLOEXEC)
                guard file >= 0 else { return true }
                defer { close(file) }
                var digit: UInt8 = 0
                return read(file, &digit, 1) != 1 || digit != UInt8(ascii: "0") || geteuid() == 0
            }
    }

    /// The result of a trial of a level.
    enum Trial {
        case succeeded
        case failed
        /// There were too few processes, memory or descriptors; the trial does not show if the level works.
        case inconclusive
    }

    /// Tests a level by starting a system program in it.
    func attempt(_ level: SandboxKind, _ logger: Logger) async -> Trial {
        guard level == .bubblewrap else { return .succeeded }
        let end = OneShotResult<Void, Never>()
        let started: (value: PluginProcess, report: ConfinementReport?)
        var errors: [String] = []
        do {
            started = try start(
                ["/usr/bin/true"], folder: "/usr", PluginLimits(), level
            ) { launch in
                try PluginProcess(
                    launch, PluginLimits(),
                    PluginProcess.Handlers(
                        line: { _ in },
                        standardErrorLine: {
                            guard !$0.isEmpty else { return }
                            errors.append(String(decoding: $0, as: UTF8.self))
                            logger.warning("\(errors.last ?? "")")
                        },
                        deniedCall: { _ in }, exceededLimit: { _ in },
                        ended: { _ in end.complete(.success(())) }))
            }
        } catch {
            return Shortage.isReason(for: error) ? .inconclusive : .failed
        }
        await end.value()
        withExtendedLifetime(started.value) {}
        guard started.report?.saysThatItFailed == true else {
            recordSuccess(level)
            return .succeeded
        }
        return Shortage.isReason(for: errors) ? .inconclusive : .failed
    }

    /// Starts the program of a manifest in a sandbox. With ``place``, the process waits for ``PluginLaunch/placement``.
    ///
    /// - Parameters:
    ///   - manifest: The manifest of the plugin.
    ///   - limits: The limits of the process.
    ///   - level: The kind of the sandbox.
    ///   - start: Starts the process. The descriptors of the setup are open only during this call.
    /// - Returns: The result of `start`, and the report of `bwrap`; nil for other kinds of sandbox.
    /// - Throws: ``SandboxError``, ``SpawnError``, and the errors of `start`.
    func start<Value>(
        _ manifest: Manifest, _ limits: PluginLimits, _ level: SandboxKind,
        _ start: (PluginLaunch) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        reportLevel()
        return try self.start(
            manifest.command, folder: manifest.folder, limits, level, inGroup: place != nil
        ) { try start(place == nil ? $0 : $0.waiting(programs.launcher)) }
    }

    /// Logs once that a stricter level is not available on this computer.
    private func reportLevel() {
        guard !hasReportedLevel, let level, let strictest = levels.first, level != strictest
        else { return }
        hasReportedLevel = true
        logger.notice(
            "A sandbox of plugins is not available, and another one is used",
            metadata: ["missing": "\(strictest)", "instead": "\(level)"])
    }

    private func start<Value>(
        _ command: [String], folder: String, _ limits: PluginLimits, _ level: SandboxKind,
        inGroup: Bool = false, _ start: (PluginLaunch) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        let launcher = programs.launcher
        guard access(launcher, X_OK) == 0 else {
            throw SpawnError(program: launcher, code: errno)
        }
        var setup = SandboxedProcess.Setup(program: launcher)
        // Descriptors 0 to 2 are the standard streams. RLIMIT_NPROC is used only if it counts by user namespace. A
        // control group counts threads itself.
        let countsThreads = !inGroup && level == .bubblewrap && Self.countsTasksByNamespace
        setup.arguments = ["3", "4", "\(countsThreads ? limits.threads : 0)"] + command
        setup.environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/home",
            // By default, glibc reserves 64 MiB of address space for the heap of each thread.
            "MALLOC_ARENA_MAX": "2",
        ]
        setup.limits = [
            (.data, limits.memoryBytes), (.stack, 8 << 20),
            (.processorSeconds, limits.processorSeconds), (.descriptors, limits.descriptors),
            (.fileBytes, 0), (.coreBytes, 0), (.pendingSignals, 128),
        ]
        // Memory that is made read-only does not count for the limit above.
        if !inGroup { setup.limits.append((.addressSpace, limits.addressSpaceBytes)) }
        setup.niceness = 10
        let filter = try Self.filter(level, consultsAboutThreads: !inGroup && !countsThreads)
        let refusals = try PipeEnds(takesDescriptors: true)
        defer { close(refusals.takeWriting()) }
        setup.descriptors = [filter.reading, refusals.writing]
        switch level {
        case .bubblewrap:
            let report = try PipeEnds()
            setup.program = programs.bubblewrap ?? "bwrap"
            setup.descriptors.append(report.writing)
            setup.arguments =
                Self.arguments(showing: [folder, launcher])
                + ["--json-status-fd", "5", "--", launcher] + setup.arguments
            let value = try start(PluginLaunch(setup: setup, refusals: refusals))
            close(report.takeWriting())
            return (value, ConfinementReport(report.takeReading()))
        case .landlock:
            var rules = FileRules()
            rules.readable = SandboxKind.systemFiles + ["/dev/urandom", "/dev/random", "/dev/zero"]
            rules.executable = SandboxKind.systemFolders + [folder, launcher]
            rules.writable = ["/dev/null"]
            setup.fileRules = try rules.ruleset()
            defer { setup.fileRules.map { _ = close($0) } }
            return (try start(PluginLaunch(setup: setup, refusals: refusals)), nil)
        case .none:
            // The plugin runs as the same user without a sandbox, and could read the memory of the daemon.
            try ProcessRestrictions.forbidInspection()
            return (try start(PluginLaunch(setup: setup, refusals: refusals)), nil)
        }
    }

    /// True if the kernel counts the tasks of a user in each user namespace separately: since Linux 5.14.
    private static let countsTasksByNamespace = kernelVersion >= (5, 14)

    /// True if a listener can allow a call to continue: since Linux 5.5.
    private static let canContinueCalls = kernelVersion >= (5, 5)

    private static let kernelVersion: (Int, Int) = {
        var system = utsname()
        guard uname(&system) == 0 else { return (0, 0) }
        let release = withUnsafeBytes(of: system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    }()

    /// Returns a pipe that contains the instructions of the system call filter for the launcher.
    private static func filter(
        _ level: SandboxKind, consultsAboutThreads: Bool
    ) throws -> PipeEnds {
        // bubblewrap creates a PID namespace.
        let seesOthers = level != .bubblewrap
        // Landlock can restrict signals since version 6 of its ABI.
        let knowsSignals = level == .landlock && FileRules.kernelVersion >= 6
        let program = SystemCallFilter.program(
            seesOthers: seesOthers, refusesSignals: seesOthers && !knowsSignals,
            consultsAboutThreads: consultsAboutThreads && canContinueCalls
        ).program
        let ends = try PipeEnds()
        let written = program.withUnsafeBytes { write(ends.writing, $0.baseAddress, $0.count) }
        guard written == program.count * 8 else {
            throw SpawnError(program: "the system call filter", code: errno)
        }
        close(ends.takeWriting())
        return ends
    }

    // MARK: bubblewrap

    /// Returns the arguments of `bwrap` for a file system with the system files and some paths.
    private static func arguments(showing paths: [String]) -> [String] {
        var arguments = SandboxKind.namespaces.map { "--unshare-\($0)" }
        arguments += [
            "--die-with-parent", "--new-session", "--cap-drop", "ALL",
            // An init process of bubblewrap would run without the filter, and the program could write to its memory.
            "--as-pid-1",
        ]
        for system in SandboxKind.systemFolders {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink(system, &target, target.count)
            arguments +=
                length > 0
                ? [
                    "--symlink", String(decoding: target[..<length].map(UInt8.init), as: UTF8.self),
                    system,
                ]
                : ["--ro-bind-try", system, system]
        }
        for file in SandboxKind.systemFiles { arguments += ["--ro-bind-try", file, file] }
        arguments += ["--proc", "/proc", "--dev", "/dev", "--dir", "/home"]
        for path in paths { arguments += ["--ro-bind", path, path] }
        // Through a writable /proc, a process could exceed its memory limits with writes to its own memory, and
        // change its OOM score.
        for folder in ["/proc", "/dev", "/"] { arguments += ["--remount-ro", folder] }
        return arguments + ["--chdir", "/"]
    }
}

/// A function that moves a process into a control group of its own, with limits of the memory and the tasks.
///
/// - Parameters:
///   - process: The ID of the process, which has no children yet.
///   - plugin: The ID of the plugin.
///   - memoryBytes: The memory, including that of the kernel, in bytes.
///   - tasks: The number of processes and threads.
/// - Throws: An error of the service manager.
package typealias PluginPlacement = (
    _ process: Int32, _ plugin: String, _ memoryBytes: Int, _ tasks: Int
) async throws -> Void

/// A plugin that is about to be started.
struct PluginLaunch {
    let setup: SandboxedProcess.Setup
    /// The socket pair through which the launcher sends the listener for the denied system calls.
    let refusals: PipeEnds
    /// The pipe for a byte that tells the process that it was placed in its control group; nil if it does not wait.
    var placement: PipeEnds?

    /// Returns the launch of a process that waits for ``placement``.
    fileprivate func waiting(_ launcher: String) throws -> PluginLaunch {
        let pipe = try PipeEnds()
        var setup = setup
        // Descriptors 0 to 2 are the standard streams.
        setup.arguments =
            ["--wait", "\(3 + setup.descriptors.count)", setup.program] + setup.arguments
        setup.program = launcher
        setup.descriptors.append(pipe.reading)
        return PluginLaunch(setup: setup, refusals: refusals, placement: pipe)
    }
}

/// The status that `bwrap` reports. The descriptor is closed with the last reference.
final class ConfinementReport {
    private let descriptor: Int32

    /// - Parameter descriptor: The reading end of the pipe to which `bwrap` writes. The report closes it.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    isolated deinit { close(descriptor) }

    /// True if the program was not started because the sandbox failed. The value is valid after the end of `bwrap`. The
    /// program cannot affect it.
    var saysThatItFailed: Bool {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while text.count < 1 << 16 {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            text += chunk[..<count]
        }
        return !String(decoding: text, as: UTF8.self).contains("\"exit-code\"")
    }
}
