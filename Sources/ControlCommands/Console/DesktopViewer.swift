internal import DBus
internal import Glibc
internal import System
internal import Translation

/// The desktop's programs for images and web pages.
@MainActor
enum DesktopViewer {
    /// Shows the file at `path` in the image viewer.
    ///
    /// - Throws: ``CommandFailure`` if there is no viewer or it cannot show the file.
    static func openPhoto(_ path: String) async throws(CommandFailure) {
        try await open(path) {
            $1
                ? tr(
                    "The photo could not be opened: {reason}. Open the file in another program: {file}",
                    ["reason": $0, "file": path])
                : tr(
                    "The photo cannot be opened: {reason}. Open the file in another program: {file}",
                    ["reason": $0, "file": path])
        }
    }

    /// Opens a URL in the browser.
    ///
    /// - Throws: ``CommandFailure`` if there is no browser or it cannot open the URL.
    static func openLink(_ address: String) async throws(CommandFailure) {
        try await open(address) {
            $1
                ? tr(
                    "The link could not be opened: {reason}. Open it in a browser.", ["reason": $0])
                : tr("The link cannot be opened: {reason}. Open it in a browser.", ["reason": $0])
        }
    }

    /// Shows a photo in the window of Image Feed, a separate program that the bus starts when it is needed.
    ///
    /// - Parameters:
    ///   - reference: `ACCOUNT/ID`.
    ///   - connection: The connection to the bus.
    /// - Throws: ``CommandFailure`` if the window is not installed; ``BusError``.
    ///
    /// Source: Desktop Entry Specification, "D-Bus Activation".
    static func openWindow(_ reference: String, _ connection: BusConnection) async throws {
        do {
            try await BusProxy(connection, "org.imagefeed.Viewer", "/org/imagefeed/Viewer").perform(
                "org.freedesktop.Application", "ActivateAction", "open",
                [Variant.string(reference)], [String: Variant]())
        } catch BusError.reply(let reply) where reply.name == .serviceUnknown {
            throw CommandFailure.tr(
                "The window is not installed. Install the package imagefeed-viewer.",
                status: .unavailable)
        }
    }

    /// Runs `xdg-open` and waits for its end, which on some desktops is the end of the viewer.
    ///
    /// Its output is discarded: standard output is for results only, and an error is one line.
    ///
    /// - Parameters:
    ///   - target: A path or URL.
    ///   - message: Returns the message for a reason, and for whether the program was started.
    /// - Throws: ``CommandFailure`` if the program is missing or fails.
    ///
    /// Source: `xdg-open(1)`.
    private static func open(
        _ target: String, _ message: (_ reason: String, _ hasStarted: Bool) -> String
    ) async throws(CommandFailure) {
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                "xdg-open", [target],
                descriptors: [
                    STDIN_FILENO: Console.nullDevice, STDOUT_FILENO: Console.nullDevice,
                    STDERR_FILENO: Console.nullDevice,
                ])
        } catch {
            let reason =
                error.code == ENOENT
                ? tr("{program} is not installed", ["program": "xdg-open"])
                : String(error.message.translated.dropLast())
            throw CommandFailure(.failed, message(reason, false))
        }
        guard let problem = await process.exit().failureDescription("xdg-open") else { return }
        throw CommandFailure(.failed, message(problem, true))
    }
}

extension SpawnedProcess.Exit {
    /// Returns the description of a failure; nil for success.
    func failureDescription(_ program: String) -> String? {
        switch self {
        case .code(0): nil
        case .code(let code):
            tr(
                "{program} exited with status {status}",
                ["program": program, "status": String(code)])
        case .signal(let signal):
            tr(
                "{program} was terminated by signal {signal}",
                ["program": program, "signal": String(signal)])
        }
    }
}
