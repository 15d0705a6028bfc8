internal import DBus
internal import Glibc
internal import System

/// The clipboard of the desktop, by the programs that hold it after we have ended.
@MainActor
enum Clipboard {
    /// Puts text on the clipboard.
    ///
    /// - Parameter text: 64 KiB at most.
    /// - Throws: ``CommandFailure`` without a desktop, without a program for it, or when that fails.
    static func put(_ text: String) async throws(CommandFailure) {
        let candidates = programs(
            hasWayland: isSet("WAYLAND_DISPLAY"), hasX: isSet("DISPLAY"))
        guard !candidates.isEmpty else {
            throw CommandFailure(
                .failed, "There is no clipboard here: neither WAYLAND_DISPLAY nor DISPLAY is set.")
        }
        for (program, arguments) in candidates {
            guard let process = try start(program, arguments, input: text) else { continue }
            guard let problem = await process.problem(program) else { return }
            throw CommandFailure(.failed, "The link is not on the clipboard: \(problem).")
        }
        let names = candidates.map(\.program).joined(separator: " or ")
        throw CommandFailure(.failed, "The link is not on the clipboard: install \(names).")
    }

    /// What can be run, the best first.
    ///
    /// Source: `wl-copy(1)`, `xclip(1)`, `xsel(1)`. Under Wayland the others reach the clipboard through Xwayland.
    private static func programs(
        hasWayland: Bool, hasX: Bool
    ) -> [(program: String, arguments: [String])] {
        (hasWayland ? [("wl-copy", [])] : [])
            + (hasX
                ? [("xclip", ["-selection", "clipboard"]), ("xsel", ["--clipboard", "--input"])]
                : [])
    }

    /// Starts a program that reads `input`; nil if it is not installed.
    ///
    /// It stays behind, so it has none of our files: who waits for their end would wait for it.
    private static func start(
        _ program: String, _ arguments: [String], input: String
    ) throws(CommandFailure) -> SpawnedProcess? {
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(nothing) }
        guard let pipe = FileDescriptor.pipe(holding: Array(input.utf8), input.utf8.count) else {
            throw CommandFailure(
                .failed, "The link is not on the clipboard: \(String(cString: strerror(errno))).")
        }
        defer { withExtendedLifetime(pipe) {} }
        do {
            return try SpawnedProcess(
                program, arguments,
                descriptors: [
                    STDIN_FILENO: pipe.rawValue, STDOUT_FILENO: nothing, STDERR_FILENO: nothing,
                ])
        } catch {
            guard error.code == ENOENT else {
                throw CommandFailure(.failed, "The link is not on the clipboard: \(error)")
            }
            return nil
        }
    }

    private static func isSet(_ name: String) -> Bool { getenv(name).map { $0[0] != 0 } ?? false }
}
