internal import CProcesses
internal import Dispatch
internal import Glibc
package import Translation

/// A child process that starts with default signal handling: no signal is blocked or ignored.
///
/// Foundation's `Process` passes on the signal mask of libdispatch's threads, and the child then ignores SIGTERM.
package struct SpawnedProcess: Sendable {
    /// The exit status of a process.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// The process ID. It is valid until the exit of the process was awaited.
    package let id: Int32

    init(id: Int32) { self.id = id }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program, or a name that is searched in `PATH`.
    ///   - arguments: The arguments after the name of the program.
    ///   - environment: The complete environment; nil for that of this process.
    ///   - descriptors: Descriptors of this process, by their numbers in the child. The child inherits the first three
    ///     unless they are given, and other descriptors only if they have no `FD_CLOEXEC`.
    /// - Throws: ``SpawnError``. A program that starts and then fails is not an error.
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
        CurrentProcess.restoreDescriptorLimit(in: id)
        self.id = id
    }

    /// Waits for the exit without blocking the thread. The exit must be awaited only once, with one method, because the
    /// process ID may be reused afterwards.
    @MainActor package func exit() async -> Exit {
        let result = OneShotResult<Exit, Never>()
        onExit { result.complete(.success($0)) }
        return await result.value()
    }

    /// Calls a handler after the exit. See ``exit()``.
    ///
    /// - Parameter handler: Called once; never within this call.
    ///
    /// The corresponding C function is `pidfd_open`.
    @MainActor package func onExit(_ handler: @escaping @MainActor (Exit) -> Void) {
        let descriptor = shim_pidfd_open(id)
        guard descriptor >= 0 else {
            // Linux before 5.3, or no free descriptors. Uses a separate queue, because the thread pool of libdispatch
            // would wake the process every second from then on.
            DispatchQueue(label: "process-exit").async {
                let exit = waitForExit()
                DispatchQueue.main.async { handler(exit) }
            }
            return
        }
        var source: DescriptorSource?
        source = DescriptorSource(descriptor, .reading) {
            source?.cancel()
            source = nil
            handler(waitForExit())
        }
        source?.resume()
    }

    /// Blocks until the exit. See ``exit()``.
    ///
    /// The corresponding C function is `waitpid`.
    package func waitForExit() -> Exit {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        // WIFSIGNALED and WEXITSTATUS are macros, which Swift does not import.
        let signal = status & 0x7f
        return signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    }
}

/// An error of a program that could not be started.
package struct SpawnError: ExplainedError, Hashable, CustomStringConvertible {
    package let program: String
    /// The `errno`; `ENOENT` if there is no such program.
    package let code: Int32

    package init(program: String, code: Int32) {
        self.program = program
        self.code = code
    }

    /// The codes of a temporary lack of processes, memory or descriptors, which the program does not cause.
    package static let shortages = [EAGAIN, ENOMEM, EMFILE, ENFILE]

    package var message: Message {
        Message(
            "{program} cannot be started: {reason}.",
            ["program": program, "reason": String(cString: strerror(code))])
    }
}

/// The two ends of a new pipe, with `FD_CLOEXEC`.
///
/// The ends are closed with the last reference, except those that were taken.
package final class PipeEnds {
    package private(set) var reading: Int32
    package private(set) var writing: Int32

    /// Creates a pipe.
    ///
    /// - Parameter takesDescriptors: True for a pair of sockets that transfers messages and descriptors.
    /// - Throws: ``SpawnError`` if the process has no free descriptors.
    package init(takesDescriptors: Bool = false) throws(SpawnError) {
        var ends: [Int32] = [-1, -1]
        let result = takesDescriptors ? shim_message_pipe(&ends) : shim_pipe(&ends)
        guard result == 0 else { throw SpawnError(program: "a pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Enlarges the buffer to 1 MiB, so that most messages are written at once. Best effort: there is a limit for each
    /// user.
    ///
    /// Source: fcntl(2), `F_SETPIPE_SZ`.
    package func widen() { _ = fcntl(writing, 1031, Int32(1 << 20)) }

    deinit { for end in [reading, writing] where end >= 0 { close(end) } }

    /// Returns the reading end. The caller closes it.
    package func takeReading() -> Int32 {
        defer { reading = -1 }
        return reading
    }

    /// Returns the writing end. The caller closes it.
    package func takeWriting() -> Int32 {
        defer { writing = -1 }
        return writing
    }
}
