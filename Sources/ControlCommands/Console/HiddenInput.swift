internal import Dispatch
internal import Glibc

/// A line that a person types and the terminal does not show.
@MainActor
enum HiddenInput {
    /// As much of a line as a terminal hands over.
    nonisolated private static let limitBytes = 4096

    /// Asks for a line, which has no end of line any more.
    ///
    /// Unlike `getpass`, it leaves Ctrl-C alone: the terminal then shows again what is typed, and the program ends.
    ///
    /// - Throws: ``CommandFailure`` when standard input is no terminal, and after Ctrl-D.
    static func line(_ question: String) async throws(CommandFailure) -> [UInt8] {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw failure() }
        var unseen = shown
        unseen.c_lflag &= ~tcflag_t(ECHO)
        unseen.c_lflag |= tcflag_t(ECHONL)
        let watch = SignalWatch { [shown] in
            restore(shown)
            exit(ProgramStatus.interrupted.rawValue)
        }
        defer { withExtendedLifetime(watch) {} }
        // What was typed before the question was shown, and is not the answer.
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen) == 0 else { throw failure() }
        defer { restore(shown) }
        Console.ask(question)
        let line = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: read()) }
        }
        // The answer to a question that was put away is not an empty one.
        guard let line else { throw CommandFailure(.interrupted, "Nothing was entered.") }
        return line
    }

    /// Leaves nothing of `bytes` in memory.
    nonisolated static func erase(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        }
    }

    /// A terminal hands over one line at a time; nil at the end of what is typed.
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
            .failed, "Nothing can be asked at the terminal: \(String(cString: strerror(errno))).")
    }
}
