internal import Dispatch
internal import Glibc

/// A reader of standard input.
///
/// It reads on another thread, so that the main thread can handle D-Bus messages and Ctrl-C meanwhile.
@MainActor
enum StandardInput {
    /// Returns the next line without the line feed; nil at the end of input.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }

    /// Prompts with a question, and returns true if the reply is "y" or "yes".
    static func confirm(_ question: String) async -> Bool {
        Console.prompt(question + " [y/N]")
        return isYes(await line())
    }

    nonisolated static func isYes(_ reply: String?) -> Bool {
        let word = (reply ?? "").lowercased().filter { !$0.isWhitespace }
        return word == "y" || word == "yes"
    }
}
