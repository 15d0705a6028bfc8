internal import Dispatch
internal import Glibc
internal import Translation

/// Input from the terminal without echo.
@MainActor
enum HiddenInput {
    /// The largest line of a terminal in canonical mode.
    nonisolated private static let limitBytes = 4096

    /// Prompts for a line and returns it without the line feed.
    ///
    /// Unlike `getpass`, it does not disable Ctrl-C, which restores the echo and ends the program.
    ///
    /// - Throws: ``CommandFailure`` if standard input is not a terminal, and after Ctrl-D.
    static func readLine(_ prompt: String) async throws(CommandFailure) -> [UInt8] {
        var original = termios()
        guard tcgetattr(STDIN_FILENO, &original) == 0 else { throw failure() }
        var hidden = original
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL)
        let watch = SignalWatch { [original] in
            restore(original)
            exit(ProgramStatus.interrupted.rawValue)
        }
        defer { withExtendedLifetime(watch) {} }
        // TCSAFLUSH discards input that was typed before the prompt.
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { throw failure() }
        defer { restore(original) }
        Console.prompt(prompt)
        let line = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: read()) }
        }
        // Ctrl-D cancels the prompt; it is not an empty line.
        guard let line else { throw CommandFailure(.interrupted, tr("Nothing was entered.")) }
        return line
    }

    /// Overwrites a secret in memory.
    nonisolated static func erase(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        }
    }

    /// Reads one line, which a terminal returns with one call of `read`; nil at the end of input.
    nonisolated private static func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limitBytes)
        var count = -1
        repeat {
            count = Glibc.read(STDIN_FILENO, &bytes, limitBytes)
        } while count < 0 && errno == EINTR
        guard count > 0 else { return nil }
        bytes.removeLast(limitBytes - count)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return bytes
    }

    private static func restore(_ settings: termios) {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    private static func failure() -> CommandFailure {
        CommandFailure(
            .failed,
            tr(
                "The terminal cannot be read: {reason}.",
                ["reason": String(cString: strerror(errno))]))
    }
}
