internal import ChildProcesses
internal import Glibc
internal import Logging
internal import Sandbox

/// Starts programs confined, as strictly as this computer can.
final class Confiner {
    /// How plugins are confined; nil where they would not be, and nobody has allowed that.
    private(set) var level: Confinement?
    private var levels: [Confinement]
    private let logger: Logger
    private static let programs = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
    private let bubblewrap = Confiner.programs.first { access($0, X_OK) == 0 }

    /// - Parameters:
    ///   - levels: What may be tried, the strictest first.
    ///   - logger: Told when something is missing.
    init(_ levels: [Confinement], logger: Logger) {
        self.levels = levels
        self.logger = logger
        choose()
    }

    /// Takes the next best level: the present one does not work here.
    func giveUp(_ level: Confinement) {
        guard self.level == level else { return }
        levels.removeAll { $0 == level }
        choose()
        logger.warning(
            "Plugins cannot be confined as they should be",
            metadata: ["failed": "\(level)", "instead": "\(self.level?.rawValue ?? "nothing")"])
    }

    private func choose() {
        level = levels.first { level in
            switch level {
            case .bubblewrap: bubblewrap != nil && Self.hasUserNamespaces
            case .landlock: FileRules.kernelVersion > 0
            case .none: true
            }
        }
    }

    /// Whether the kernel is not told to have none. Whether they work, is seen when they are used.
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

    /// Whether programs can be confined by a level at all.
    func works(_ level: Confinement, _ logger: Logger) async -> Bool {
        guard level == .bubblewrap else { return true }
        let exit = Exit()
        var report: ConfinementReport?
        do {
            (exit.process, report) = try start(
                ["/usr/bin/true"], folder: "/usr", PluginLimits(), level
            ) { setup in
                try PluginProcess(
                    setup, PluginLimits(),
                    PluginProcess.Handlers(
                        line: { _ in }, complaint: { logger.warning("\($0)") },
                        misbehaved: { _ in }, ended: { _ in exit.note() }))
            }
        } catch {
            return false
        }
        await exit.wait()
        return report?.saysThatItFailed == false
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
        _ manifest: Manifest, _ limits: PluginLimits, _ level: Confinement,
        _ start: (ConfinedProcess.Setup) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        try self.start(manifest.command, folder: manifest.folder, limits, level, start)
    }

    private func start<Value>(
        _ command: [String], folder: String, _ limits: PluginLimits, _ level: Confinement,
        _ start: (ConfinedProcess.Setup) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        var setup = ConfinedProcess.Setup(program: command[0])
        setup.arguments = Array(command.dropFirst())
        setup.environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/home"]
        setup.limits = [
            (.data, limits.memoryBytes), (.addressSpace, 16 << 30),
            (.processorSeconds, limits.processorSeconds), (.descriptors, limits.descriptors),
            (.fileBytes, 0), (.coreBytes, 0),
        ]
        setup.niceness = 10
        switch level {
        case .bubblewrap: return try startInside(setup, folder, start)
        case .landlock:
            var rules = FileRules()
            rules.readable = Confinement.systemFiles + ["/dev/urandom", "/dev/random", "/dev/zero"]
            rules.executable = Confinement.systemFolders + [folder]
            rules.writable = ["/dev/null"]
            setup.fileRules = try rules.ruleset()
            defer { setup.fileRules.map { _ = close($0) } }
            // From its sixth version on, Landlock knows signals.
            setup.filter =
                SystemCallFilter.program(refusesSignals: FileRules.kernelVersion < 6).program
            return (try start(setup), nil)
        case .none:
            setup.filter = SystemCallFilter.program(refusesSignals: true).program
            return (try start(setup), nil)
        }
    }

    // MARK: bubblewrap

    private func startInside<Value>(
        _ plain: ConfinedProcess.Setup, _ folder: String,
        _ start: (ConfinedProcess.Setup) throws -> Value
    ) throws -> (value: Value, report: ConfinementReport?) {
        var setup = plain
        setup.program = bubblewrap ?? Self.programs[0]
        // The first three are those of the program.
        setup.arguments =
            Self.arguments(folder)
            + ["--seccomp", "3", "--json-status-fd", "4", "--", plain.program] + plain.arguments
        let (filter, report) = try (PipeEnds(), PipeEnds())
        // In its own namespace of processes it can signal nobody else.
        let program = SystemCallFilter.program(refusesSignals: false).program
        let written = program.withUnsafeBytes { write(filter.writing, $0.baseAddress, $0.count) }
        guard written == program.count * 8 else {
            throw SpawnError(program: setup.program, code: errno)
        }
        close(filter.takeWriting())
        setup.descriptors = [filter.reading, report.writing]
        let value = try start(setup)
        close(report.takeWriting())
        return (value, ConfinementReport(report.takeReading()))
    }

    private static func arguments(_ folder: String) -> [String] {
        var arguments = [
            // What the filter of system calls does not keep from it; systemd lets us have no others.
            "--unshare-user", "--unshare-pid", "--unshare-net",
            "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        ]
        for system in Confinement.systemFolders {
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
        for file in Confinement.systemFiles { arguments += ["--ro-bind-try", file, file] }
        return arguments + [
            "--proc", "/proc", "--dev", "/dev", "--dir", "/home", "--ro-bind", folder, folder,
            "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/",
        ]
    }
}

/// What `bwrap` says of how far it came. Closed with its last reference.
final class ConfinementReport {
    private let descriptor: Int32

    /// - Parameter descriptor: Becomes the report's own.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    isolated deinit { close(descriptor) }

    /// Whether the program was not started, since its surroundings could not be made. To be asked once
    /// `bwrap` has ended. The program itself has no say in it.
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

/// The end of a program, for one who waits.
private final class Exit {
    var process: PluginProcess?
    private var hasCome = false
    private var waiter: CheckedContinuation<Void, Never>?

    func note() {
        hasCome = true
        waiter?.resume()
        waiter = nil
        process = nil
    }

    func wait() async {
        guard !hasCome else { return }
        await withCheckedContinuation { waiter = $0 }
    }
}
