internal import Glibc
internal import System

/// The desktop's programs for images and web pages.
@MainActor
enum DesktopViewer {
    /// Shows the file at `path` in the image viewer.
    ///
    /// - Throws: ``CommandFailure`` if there is no viewer or it cannot show the file.
    static func openPhoto(_ path: String) async throws(CommandFailure) {
        try await open(path, "photo", "Open the file in another program: \(path)")
    }

    /// Opens a URL in the browser.
    ///
    /// - Throws: ``CommandFailure`` if there is no browser or it cannot open the URL.
    static func openLink(_ address: String) async throws(CommandFailure) {
        try await open(address, "link", "Open it in a browser.")
    }

    /// Runs `xdg-open` and waits for its end, which on some desktops is the end of the viewer.
    ///
    /// Its standard output is redirected to standard error, because standard output is for results only.
    ///
    /// - Parameters:
    ///   - target: A path or URL.
    ///   - noun: The word for the target in messages.
    ///   - advice: The last sentence of messages.
    /// - Throws: ``CommandFailure`` if the program is missing or fails.
    ///
    /// Source: `xdg-open(1)`.
    private static func open(
        _ target: String, _ noun: String, _ advice: String
    ) async throws(CommandFailure) {
        let nullDevice = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nullDevice) }
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                "xdg-open", [target],
                descriptors: [STDIN_FILENO: nullDevice, STDOUT_FILENO: STDERR_FILENO])
        } catch {
            let reason = error.code == ENOENT ? "xdg-open is not installed." : "\(error)"
            throw CommandFailure(.failed, "The \(noun) cannot be opened: \(reason) \(advice)")
        }
        guard let problem = await process.failureDescription("xdg-open") else { return }
        throw CommandFailure(
            .failed, "The \(noun) could not be opened: \(problem). \(advice)")
    }
}

extension SpawnedProcess {
    /// Waits for the end of the process.
    ///
    /// - Parameter program: The name of the program in the result.
    /// - Returns: The description of the failure; nil if the program succeeded.
    func failureDescription(_ program: String) async -> String? {
        await exit().failureDescription(program)
    }
}

extension SpawnedProcess.Exit {
    /// Returns the description of a failure; nil for success.
    func failureDescription(_ program: String) -> String? {
        switch self {
        case .code(0): nil
        case .code(let code): "\(program) exited with status \(code)"
        case .signal(let signal): "\(program) was terminated by signal \(signal)"
        }
    }
}
