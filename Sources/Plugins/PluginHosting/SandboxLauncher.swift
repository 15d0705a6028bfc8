internal import Glibc
internal import Logging
internal import Sandbox
internal import System

/// The component that prepares the start of plugins in the strictest sandbox that is available on this computer.
final class SandboxLauncher {
    /// The available levels, the strictest first.
    private var levels: [SandboxKind]
    /// True if ``level`` has started a plugin on this computer. Then it is never given up.
    private var isProven = false
    /// The strictest permitted level, until the log says that it is not available; nil if it is available.
    private var missing: SandboxKind?
    /// The limits of each plugin.
    let limits: PluginLimits
    let logger: Logger
    private let programs: SandboxPrograms
    /// Places the processes of plugins in control groups; nil if there are none.
    var place: PluginPlacement?

    /// The sandbox of plugins; nil if there is none and the configuration requires one.
    var level: SandboxKind? { levels.first }

    /// - Parameters:
    ///   - levels: The levels that may be used, the strictest first.
    ///   - limits: The limits of each plugin.
    ///   - programs: The programs that start plugins.
    ///   - place: Places the processes of plugins in control groups; nil if there are none.
    ///   - logger: The logger for the plugins, and for levels that are not available.
    init(
        _ levels: [SandboxKind], _ limits: PluginLimits, programs: SandboxPrograms,
        place: PluginPlacement? = nil, logger: Logger
    ) {
        self.limits = limits
        self.levels = levels.filter { level in
            switch level {
            case .bubblewrap: programs.bubblewrap != nil && Self.hasUserNamespaces
            case .landlock: FileRules.kernelVersion > 0
            case .none: true
            }
        }
        self.programs = programs
        self.place = place
        self.logger = logger
        missing = levels.first == level ? nil : levels.first
    }

    /// Records that a level has started a plugin.
    func recordSuccess(_ level: SandboxKind) { if level == self.level { isProven = true } }

    /// Replaces a level that does not work on this computer by the next one.
    ///
    /// - Returns: False if the level has worked before, and stays.
    func giveUp(_ failed: SandboxKind) -> Bool {
        guard level == failed else { return true }
        guard !isProven else { return false }
        levels.removeFirst()
        logger.warning(
            "Plugins cannot be confined as they should be",
            metadata: ["failed": "\(failed)", "instead": "\(level?.rawValue ?? "nothing")"])
        return true
    }

    /// True if user namespaces are not disabled. They may still fail when they are used.
    private static var hasUserNamespaces: Bool {
        ["/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"]
            .allSatisfy { KernelFile.text($0)?.hasPrefix("0") != true || geteuid() == 0 }
    }

    /// Prepares the start of a plugin. With ``place``, its process waits for ``PluginLaunch/placement``.
    ///
    /// - Parameters:
    ///   - manifest: The manifest of the plugin.
    ///   - level: The kind of the sandbox.
    /// - Returns: The setup and the descriptors of the process.
    /// - Throws: ``SandboxError``, ``SpawnError``.
    func launch(_ manifest: Manifest, _ level: SandboxKind) throws -> PluginLaunch {
        if let missing {
            logger.notice(
                "A sandbox of plugins is not available, and another one is used",
                metadata: ["missing": "\(missing)", "instead": "\(level)"])
            self.missing = nil
        }
        let launcher = programs.launcher
        guard access(launcher, X_OK) == 0 else {
            throw SpawnError(program: launcher, code: errno)
        }
        var setup = SpawnedProcess.Setup(program: launcher)
        // Descriptors 0 to 2 are the standard streams.
        setup.arguments = ["3", "4"] + manifest.command
        setup.environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/home",
            // By default, glibc reserves 64 MiB of address space for the heap of each thread.
            "MALLOC_ARENA_MAX": "2",
        ]
        setup.limits = [
            (RLIMIT_DATA.rawValue, limits.memoryBytes), (RLIMIT_STACK.rawValue, 8 << 20),
            (RLIMIT_CPU.rawValue, limits.processorSeconds),
            (RLIMIT_NOFILE.rawValue, limits.descriptors),
            (RLIMIT_FSIZE.rawValue, 0), (RLIMIT_CORE.rawValue, 0),
            // RLIMIT_SIGPENDING, which the module Glibc lacks: the pending signals and timers of all processes of the
            // user.
            (11, 128),
        ]
        // Memory that is made read-only does not count for the limit above. A control group counts it, and threads.
        if place == nil { setup.limits.append((RLIMIT_AS.rawValue, limits.addressSpaceBytes)) }
        setup.niceness = 10
        let launch = PluginLaunch(
            setup, filter: try filter(level), refusals: try PipeEnds(takesDescriptors: true))
        switch level {
        case .bubblewrap:
            let report = try PipeEnds()
            launch.report = report
            launch.setup.descriptors.append(report.writing)
            launch.wrap(
                programs.bubblewrap ?? "bwrap",
                Self.arguments(showing: [manifest.folder, launcher])
                    + ["--json-status-fd", "5", "--"])
        case .landlock:
            var rules = FileRules()
            rules.readable = SandboxKind.systemFiles + ["/dev/urandom", "/dev/random", "/dev/zero"]
            rules.executable = SandboxKind.systemFolders + [manifest.folder, launcher]
            rules.writable = ["/dev/null"]
            launch.setup.fileRules = try rules.ruleset()
        case .none:
            // The plugin runs as the same user without a sandbox, and could read the memory of the daemon.
            try ProcessRestrictions.forbidInspection()
        }
        if place != nil {
            let pipe = try PipeEnds()
            launch.placement = pipe
            launch.wrap(launcher, ["--wait", "\(3 + launch.setup.descriptors.count)"])
            launch.setup.descriptors.append(pipe.reading)
        }
        return launch
    }

    /// Returns a pipe that contains the instructions of the system call filter for the launcher.
    private func filter(_ level: SandboxKind) throws -> PipeEnds {
        // bubblewrap creates a PID namespace.
        let seesOthers = level != .bubblewrap
        // Landlock can restrict signals since version 6 of its ABI.
        let knowsSignals = level == .landlock && FileRules.kernelVersion >= 6
        let program = SystemCallFilter.program(
            seesOthers: seesOthers, refusesSignals: seesOthers && !knowsSignals,
            consultsAboutThreads: place == nil
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
            let target = PathBytes(system).linkTarget?.text
            arguments +=
                target.map { ["--symlink", $0, system] } ?? ["--ro-bind-try", system, system]
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

/// A plugin that is about to be started, with the descriptors of its process.
final class PluginLaunch {
    fileprivate(set) var setup: SpawnedProcess.Setup
    /// The socket pair through which the launcher sends the listener for the denied system calls.
    let refusals: PipeEnds
    /// The pipe to which `bwrap` writes its status; nil for other kinds of sandbox.
    fileprivate(set) var report: PipeEnds?
    /// The pipe for a byte that tells the process that it was placed in its control group; nil if it does not wait.
    fileprivate(set) var placement: PipeEnds?
    private let filter: PipeEnds

    fileprivate init(_ setup: SpawnedProcess.Setup, filter: PipeEnds, refusals: PipeEnds) {
        self.setup = setup
        self.filter = filter
        self.refusals = refusals
        self.setup.descriptors = [filter.reading, refusals.writing]
    }

    isolated deinit { if let rules = setup.fileRules { close(rules) } }

    /// Makes another program start the program of the setup.
    fileprivate func wrap(_ program: String, _ arguments: [String]) {
        setup.arguments = arguments + [setup.program] + setup.arguments
        setup.program = program
    }

    /// Returns true if `bwrap` reported that it did not start the program. The result is valid after the end of `bwrap`.
    /// The program cannot affect it.
    static func hasFailed(_ report: PipeEnds) -> Bool {
        _ = fcntl(report.reading, F_SETFL, O_NONBLOCK)
        var text = [UInt8](repeating: 0, count: 4096)
        let count = read(report.reading, &text, text.count)
        return !String(decoding: text.prefix(max(0, count)), as: UTF8.self)
            .contains("\"exit-code\"")
    }
}

/// The kind of the sandbox of a plugin.
nonisolated package enum SandboxKind: String, CaseIterable, Sendable {
    /// Namespaces that `bwrap` creates, without network and other processes and with only the files of the system and
    /// the plugin; a filter of system calls.
    case bubblewrap
    /// Landlock rules for files, and a filter of system calls.
    case landlock
    /// Only limits and a filter of system calls. Requires permission in the configuration.
    case none

    /// The namespaces that `bwrap` creates in addition to the mount namespace, by their names in `RestrictNamespaces=`.
    ///
    /// The systemd unit must permit them.
    package static let namespaces = ["user", "pid", "net", "ipc"]

    /// The folders of system programs and their files. Every plugin can read them.
    static let systemFolders = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
        "/gnu/store",
    ]

    /// Further files that system programs read.
    static let systemFiles = [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
        "/etc/localtime",
        // Node.js does not start if the configuration of OpenSSL exists and cannot be read. On Fedora, it includes
        // others.
        "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/pki/tls/openssl.d",
        "/etc/crypto-policies/back-ends",
    ]
}

/// The programs that start plugins in their sandbox.
nonisolated package struct SandboxPrograms: Sendable {
    /// The path of `imagefeed-plugin-launcher`.
    package var launcher: String
    /// The path of `bwrap`; nil if it is not installed.
    package var bubblewrap: String?

    /// The installed programs.
    package static var installed: SandboxPrograms {
        SandboxPrograms(
            launcher: CurrentProcess.path(ofProgram: "imagefeed-plugin-launcher"),
            bubblewrap: ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
                .first { access($0, X_OK) == 0 })
    }
}

// A temporary lack of processes, memory or descriptors is not caused by the program that failed to start.

nonisolated extension SpawnError {
    /// Returns true if an error of a start reports a shortage.
    static func isShortage(_ error: any Error) -> Bool {
        let code = (error as? SpawnError)?.code ?? (error as? SandboxError)?.code
        return code.map(shortages.contains) ?? false
    }

    /// Returns true if the last line that `bwrap` has written reports a shortage.
    ///
    /// `bwrap` prints the untranslated text of an error and not its number.
    static func isShortage(_ line: String) -> Bool {
        shortages.contains { line.hasSuffix(String(cString: strerror($0))) }
    }
}
