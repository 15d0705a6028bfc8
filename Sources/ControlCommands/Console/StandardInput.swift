internal import Dispatch
internal import Glibc
internal import Translation

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

    /// Prompts with a question, and returns true if the reply is "y" or "yes", in English or in the language of the user.
    static func confirm(_ question: String) async -> Bool {
        // Translators: y and N are the first letters of yes and no, which the user types.
        Console.prompt(question + tr(" [y/N]"))
        return isYes(await line())
    }

    nonisolated static func isYes(_ reply: String?) -> Bool {
        let word = (reply ?? "").lowercased().filter { !$0.isWhitespace }
        // Translators: the first letter of yes, which the user types.
        return ["y", "yes", tr("y"), tr("yes")].contains(word)
    }
}
