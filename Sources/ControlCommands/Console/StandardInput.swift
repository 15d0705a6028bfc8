internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import System
internal import Translation

/// A reader of standard input.
///
/// It reads on another thread, so that the main thread can handle D-Bus messages and Ctrl-C meanwhile.
@MainActor
enum StandardInput {
    /// Prompts for a line, and returns it without surrounding white space, which pasted text often has; nil at the end of
    /// input.
    static func line(_ prompt: String) async -> String? {
        Console.prompt(prompt)
        let line = await DispatchQueue.global().run { readLine() }
        // The next message is not on the line of the prompt.
        if line == nil { Console.printMessage("") }
        return line.map { String($0.trimmed) }
    }

    /// Returns true if a reply is "y" or "yes", in English or in the language of the user.
    nonisolated static func isYes(_ reply: String?) -> Bool {
        let word = (reply ?? "").lowercased().filter { !$0.isWhitespace }
        // Translators: the first letter of yes, which the user types.
        return ["y", "yes", tr("y"), tr("yes")].contains(word)
    }

    // MARK: Without echo

    /// The largest line of a terminal in canonical mode.
    nonisolated private static let limitBytes = 4096

    /// Prompts for a line of the terminal, which does not show it, and returns it.
    ///
    /// Unlike `getpass`, it does not disable Ctrl-C, which restores the echo and ends the program.
    ///
    /// - Throws: ``CommandFailure`` if standard input is not a terminal, and after Ctrl-D.
    static func hiddenLine(_ prompt: String) async throws(CommandFailure) -> SecretBytes {
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
        let line = await DispatchQueue.global().run { read() }
        // Ctrl-D cancels the prompt; it is not an empty line.
        guard let line else {
            Console.printMessage("")
            throw CommandFailure.tr("Nothing was entered.", status: .interrupted)
        }
        return line
    }

    /// Reads one line, which a terminal returns with one call of `read`; nil at the end of input.
    nonisolated private static func read() -> SecretBytes? {
        let bytes = SecretBytes(capacity: limitBytes)
        var count = -1
        repeat {
            count = bytes.append { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        return count > 0 ? bytes : nil
    }

    private static func restore(_ settings: termios) {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    private static func failure() -> CommandFailure {
        CommandFailure.tr(
            "The terminal cannot be read: {reason}.", ["reason": String(cString: strerror(errno))])
    }
}

/// Prompts the user for confirmation on the terminal, and throws an error unless the user confirms.
///
/// - Parameters:
///   - question: The question, without the possible replies.
///   - isGiven: True if the option `--yes` was given. Then there is no prompt.
/// - Throws: ``CommandFailure``: without a message if the user declines; a usage error if there is no terminal.
@MainActor
func requireConfirmation(_ question: String, isGiven: Bool) async throws(CommandFailure) {
    if isGiven { return }
    guard Console.canPrompt else {
        throw CommandFailure.tr(
            "This command needs a confirmation, but standard input is not a terminal. Add --yes.",
            status: .usage)
    }
    // Translators: y and N are the first letters of yes and no, which the user types.
    let reply = await StandardInput.line(question + tr(" [y/N]"))
    guard StandardInput.isYes(reply) else {
        throw CommandFailure(.failed, "")
    }
}
