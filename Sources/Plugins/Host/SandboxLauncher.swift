internal import Glibc
internal import Logging
internal import Sandbox
internal import System

/// Starts programs confined, as strictly as this computer can.
final class SandboxLauncher {
    /// The sandbox of plugins; nil if there is none and the configuration requires one.
    private(set) var level: SandboxKind?
    private var levels: [SandboxKind]
    /// The levels that have started a program.
    private var proven: Set<SandboxKind> = []
    private let logger: Logger
    private var hasReportedLevel = false
    private let programs: SandboxPrograms

    /// - Parameters:
    ///   - levels: The levels that may be used, the strictest first.
    ///   - programs: The programs that start plugins.
    ///   - logger: The logger for levels that are not available.
    init(_ levels: [SandboxKind], programs: SandboxPrograms, logger: Logger) {
        self.levels = levels
        self.programs = programs
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
        /// The computer is short of processes, memory or descriptors: nothing is known about the level.
        case inconclusive
    }

    /// Starts a program of the system in a level.
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
                    launch, PluginLimits(), LargeMessageTurns(),
                    PluginProcess.Handlers(
                        line: { _, _ in },
                        standardErrorLine: {
                            errors.append($0)
                            logger.warning("\($0)")
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

    /// Starts the program of a manifest with what `start` makes of it.
    ///
    /// - Parameters:
    ///   - manifest: What is started.
    ///   - limits: How much it may have.
    ///   - level: How it is confined.
    ///   - start: Starts it; descriptors of the setup are open until then.
    /// - Returns: What `start` returns, and where `bwrap` tells how it went.
    /// - Throws: ``SandboxError``, ``SpawnError``, what `start` throws.
    func start<Value>(
        _ manifest: Manifest, _ limits: PluginLimits, _ level: SandboxKind,
        _ start: (PluginLaunch) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        reportLevel()
        return try self.start(manifest.command, folder: manifest.folder, limits, level, start)
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
        _ start: (PluginLaunch) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        let launcher = programs.launcher
        guard access(launcher, X_OK) == 0 else {
            throw SpawnError(program: launcher, code: errno)
        }
        var setup = SandboxedProcess.Setup(program: launcher)
        // The first three descriptors are those of the plugin. Threads are counted by namespaces of users.
        let countsThreads = level == .bubblewrap && Self.countsTasksByNamespace
        setup.arguments = ["3", "4", "\(countsThreads ? limits.threads : 0)"] + command
        setup.environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/home",
            // The C library reserves 64 MiB of address space for the heap of each thread otherwise.
            "MALLOC_ARENA_MAX": "2",
        ]
        setup.limits = [
            // Memory that is made read-only leaves the first limit, and not the second one.
            (.data, limits.memoryBytes), (.addressSpace, limits.addressSpaceBytes),
            (.stack, 8 << 20),
            (.processorSeconds, limits.processorSeconds), (.descriptors, limits.descriptors),
            (.fileBytes, 0), (.coreBytes, 0), (.pendingSignals, 128),
        ]
        setup.niceness = 10
        let filter = try Self.filter(level, consultsAboutThreads: !countsThreads)
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
            // What runs beside us could look into our memory.
            try ProcessRestrictions.forbidInspection()
            return (try start(PluginLaunch(setup: setup, refusals: refusals)), nil)
        }
    }

    /// True if the kernel counts the tasks of a user for each namespace of users: since Linux 5.14.
    private static let countsTasksByNamespace = kernelVersion >= (5, 14)

    /// True if a listener can let a call continue: since Linux 5.5.
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

    /// The instructions of the filter of system calls, for the launcher to read.
    private static func filter(
        _ level: SandboxKind, consultsAboutThreads: Bool
    ) throws -> PipeEnds {
        // bubblewrap gives it a namespace of processes of its own.
        let seesOthers = level != .bubblewrap
        // From its sixth version on, Landlock knows signals.
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
            // A process of its own there would be in no filter, and the program could write into its memory.
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
        // In /proc, a process can write to its memory past all limits, and change its score for the end by the
        // kernel when memory runs out.
        for folder in ["/proc", "/dev", "/"] { arguments += ["--remount-ro", folder] }
        return arguments + ["--chdir", "/"]
    }
}

/// A plugin that is about to be started.
struct PluginLaunch {
    let setup: SandboxedProcess.Setup
    /// To read from: what the launcher sends of the calls that are refused.
    let refusals: PipeEnds
}

/// The status that `bwrap` reports. Closed with its last reference.
final class ConfinementReport {
    private let descriptor: Int32

    /// - Parameter descriptor: Becomes the report's own.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    isolated deinit { close(descriptor) }

    /// True if the program was not started because the sandbox failed. Valid after the end of `bwrap`. The program cannot
    /// affect the value.
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
