internal import Dispatch
internal import Glibc

/// A program that we have started: with no signal blocked or ignored, whatever we do with ours.
///
/// Foundation's `Process` passes on the signal mask of Dispatch's threads, and the child then ignores
/// SIGTERM.
package struct SpawnedProcess: Sendable {
    /// How a program has ended.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// Stays taken until the end of the process has been waited for.
    package let id: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program, or a name to look for in our `PATH`.
    ///   - arguments: What follows the name of the program.
    ///   - environment: All of its environment; nil for ours.
    ///   - descriptors: Its descriptors by their numbers there. The first three are ours unless they
    ///     are given; of others it has none but those that lack `FD_CLOEXEC`.
    /// - Throws: ``SpawnError``. A program that starts and fails at once is no error.
    ///
    /// The corresponding C function is `posix_spawnp`.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        descriptors: [Int32: Int32] = [:]
    ) throws(SpawnError) {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        for (number, descriptor) in descriptors.sorted(by: { $0.key < $1.key }) {
            posix_spawn_file_actions_adddup2(&files, descriptor, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment?.map { strdup("\($0.key)=\($0.value)") } ?? []
        variables.append(nil)
        defer { for text in arguments + variables { free(text) } }
        var id = pid_t()
        let code =
            environment == nil
            ? posix_spawnp(&id, program, &files, &attributes, &arguments, environ)
            : posix_spawnp(&id, program, &files, &attributes, &arguments, &variables)
        guard code == 0 else { throw SpawnError(program: program, code: code) }
        DescriptorLimit.restore(in: id)
        self.id = id
    }

    /// Waits for its end, on a thread of Dispatch's.
    ///
    /// Its end is to be waited for once, here or with ``waitForExit()``: its id may be another's then.
    package func exit() async -> Exit {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: waitForExit()) }
        }
    }

    /// Blocks until its end.
    ///
    /// The corresponding C function is `waitpid`.
    package func waitForExit() -> Exit { Self.waitForExit(id) }

    static func waitForExit(_ id: Int32) -> Exit {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        // WIFSIGNALED and its like are macros.
        let signal = status & 0x7f
        return signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    }
}

/// A program that could not be started.
package struct SpawnError: Error, Hashable, CustomStringConvertible {
    package let program: String
    /// The `errno`; `ENOENT` where there is no such program.
    package let code: Int32

    package init(program: String, code: Int32) {
        self.program = program
        self.code = code
    }

    package var description: String {
        "\(program) cannot be started: \(String(cString: strerror(code)))."
    }
}
