internal import DBus
internal import Glibc
internal import System
internal import Translation

/// Copies text to the clipboard of the desktop.
///
/// Helper programs provide the content, because the content must be available after the exit of this program.
///
/// - Parameter text: At most 64 KiB.
/// - Throws: ``CommandFailure`` if there is no desktop session, no helper program is installed, or the program
///   fails.
@MainActor
func copyToClipboard(_ text: String) async throws(CommandFailure) {
    // Source: `wl-copy(1)`, `xclip(1)`, `xsel(1)`. Under Wayland, the last two use the clipboard through Xwayland.
    let wayland = [("wl-copy", [String]())]
    let x = [("xclip", ["-selection", "clipboard"]), ("xsel", ["--clipboard", "--input"])]
    let candidates =
        (Console.variable("WAYLAND_DISPLAY").isEmpty ? [] : wayland)
        + (Console.variable("DISPLAY").isEmpty ? [] : x)
    guard !candidates.isEmpty else {
        throw CommandFailure.tr(
            "There is no clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set. Run this in a desktop session."
        )
    }
    let bytes = Array(text.utf8)
    guard let pipe = bytes.withUnsafeBytes({ FileDescriptor.pipe(holding: $0) }) else {
        throw clipboardFailure(String(cString: strerror(errno)))
    }
    defer { withExtendedLifetime(pipe) {} }
    // The program continues in the background. It does not inherit standard output and standard error: otherwise, a
    // caller that reads them to their end would wait for the program.
    let descriptors = [
        STDIN_FILENO: pipe.rawValue, STDOUT_FILENO: Console.nullDevice,
        STDERR_FILENO: Console.nullDevice,
    ]
    for (program, arguments) in candidates {
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(program, arguments, descriptors: descriptors)
        } catch {
            if error.code == ENOENT { continue }
            throw clipboardFailure(String(error.message.translated.dropLast()))
        }
        guard let problem = await process.exit().failureDescription(program) else { return }
        throw clipboardFailure(problem)
    }
    // Translators: between the names of programs of which one is enough.
    let names = candidates.map(\.0).joined(separator: tr(" or "))
    throw CommandFailure.tr(
        "The link could not be copied to the clipboard. To use --copy, install {programs}.",
        ["programs": names])
}

private func clipboardFailure(_ reason: String) -> CommandFailure {
    CommandFailure.tr(
        "The link could not be copied to the clipboard: {reason}.", ["reason": reason])
}
