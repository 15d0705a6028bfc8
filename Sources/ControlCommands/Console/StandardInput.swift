internal import Dispatch
internal import Glibc

/// Standard input, read off the main thread, so that the bus and Ctrl-C are served meanwhile.
@MainActor
enum StandardInput {
    /// The next line without its end; nil at the end of the input.
    static func line() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }

    /// Asks a question that "y" or "yes" agrees to.
    static func confirm(_ question: String) async -> Bool {
        Console.ask(question + " [y/N]")
        return isYes(await line())
    }

    nonisolated static func isYes(_ answer: String?) -> Bool {
        let word = (answer ?? "").lowercased().filter { !$0.isWhitespace }
        return word == "y" || word == "yes"
    }
}
