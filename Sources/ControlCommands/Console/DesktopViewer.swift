internal import Glibc
internal import System

/// The program that the desktop shows images and pages with.
@MainActor
enum DesktopViewer {
    /// Shows the file at `path`.
    ///
    /// - Throws: ``CommandFailure`` when there is no viewer, or it cannot show the file.
    static func show(_ path: String) async throws(CommandFailure) {
        try await open(path, "photo", "The file is \(path)")
    }

    /// Opens an address of the web in the browser.
    ///
    /// - Throws: ``CommandFailure`` when there is no browser, or it cannot open the address.
    static func follow(_ address: String) async throws(CommandFailure) {
        try await open(address, "link", "Open it yourself.")
    }

    /// What the program writes to its standard output goes to our standard error. Some desktops have
    /// xdg-open wait for the viewer.
    ///
    /// Source: `xdg-open(1)`.
    private static func open(
        _ target: String, _ noun: String, _ advice: String
    ) async throws(CommandFailure) {
        let nothing = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                "xdg-open", [target],
                descriptors: [STDIN_FILENO: nothing, STDOUT_FILENO: STDERR_FILENO])
        } catch {
            let reason = error.code == ENOENT ? "xdg-open is not installed." : "\(error)"
            throw CommandFailure(.failed, "The \(noun) cannot be shown: \(reason) \(advice)")
        }
        guard let problem = await process.problem("xdg-open") else { return }
        throw CommandFailure(
            .failed, "No program could show the \(noun) (\(problem)). \(advice)")
    }
}

extension SpawnedProcess {
    /// Waits for the end of `program`, and tells what was wrong with it; nil if nothing was.
    func problem(_ program: String) async -> String? {
        switch await exit() {
        case .code(0): nil
        case .code(let code): "\(program) exited with \(code)"
        case .signal(let signal): "\(program) was ended by signal \(signal)"
        }
    }
}
