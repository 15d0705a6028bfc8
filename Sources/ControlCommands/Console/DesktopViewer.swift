internal import Dispatch
internal import Glibc

/// The program that the desktop shows images with.
@MainActor
enum DesktopViewer {
    /// Shows the file at `path`.
    ///
    /// - Throws: ``CommandFailure`` when there is no viewer, or it cannot show the file.
    ///
    /// Source: `xdg-open(1)`.
    static func show(_ path: String) async throws(CommandFailure) {
        guard let process = spawn("xdg-open", path) else {
            throw CommandFailure(
                .failed,
                "The photo cannot be shown: xdg-open is not installed. The file is \(path)")
        }
        let status = await exitStatus(of: process)
        guard status == 0 else {
            throw CommandFailure(
                .failed,
                "No program could show the photo (xdg-open exited with \(status)). The file is \(path)"
            )
        }
    }

    /// Starts a program; what it writes to its standard output goes to our standard error.
    private static func spawn(_ program: String, _ argument: String) -> pid_t? {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Dispatch blocks signals in its threads, and libdbus ignores SIGPIPE.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments = [strdup(program), strdup(argument), nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        guard posix_spawnp(&process, program, &files, &attributes, &arguments, environ) == 0 else {
            return nil
        }
        return process
    }

    /// Waits off the main thread: some desktops have xdg-open wait for the viewer.
    private static func exitStatus(of process: pid_t) async -> Int32 {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
            }
        }
    }
}
