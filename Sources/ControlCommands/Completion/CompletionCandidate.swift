/// A possible completion of a word.
struct CompletionCandidate: Equatable {
    let word: String
    /// The description, for shells that show one.
    var summary = ""

    /// Creates a candidate.
    ///
    /// The result is nil if the word is empty or contains control characters, as a name from a service or a file system
    /// may: the shell scripts use line feeds and tabs as separators.
    init?(_ word: String, _ summary: String = "") {
        guard !word.isEmpty, !word.unicodeScalars.contains(where: TerminalText.isUnwanted) else {
            return nil
        }
        self.word = word
        self.summary = TerminalText.line(summary).truncated(to: 50)
    }
}

/// The possible completions of a word.
enum CompletionResult: Equatable {
    case words([CompletionCandidate])
    /// File names, which the shell completes.
    case files
}
