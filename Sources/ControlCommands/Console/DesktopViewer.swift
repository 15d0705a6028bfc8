internal import ChildProcesses
internal import Glibc

/// The program that the desktop shows images with.
@MainActor
enum DesktopViewer {
    /// Shows the file at `path`.
    ///
    /// What the program writes to its standard output goes to our standard error. Some desktops have
    /// xdg-open wait for the viewer.
    ///
    /// - Throws: ``CommandFailure`` when there is no viewer, or it cannot show the file.
    ///
    /// Source: `xdg-open(1)`.
    static func show(_ path: String) async throws(CommandFailure) {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                "xdg-open", [path],
                descriptors: [STDIN_FILENO: nothing, STDOUT_FILENO: STDERR_FILENO])
        } catch {
            let reason = error.code == ENOENT ? "xdg-open is not installed." : "\(error)"
            throw CommandFailure(
                .failed, "The photo cannot be shown: \(reason) The file is \(path)")
        }
        let problem: String
        switch await process.exit() {
        case .code(0): return
        case .code(let code): problem = "xdg-open exited with \(code)"
        case .signal(let signal): problem = "xdg-open was ended by signal \(signal)"
        }
        throw CommandFailure(
            .failed, "No program could show the photo (\(problem)). The file is \(path)")
    }
}
