/// Something that a word can become.
struct CompletionCandidate: Equatable {
    let word: String
    /// What it is, for shells that show that.
    var summary = ""

    /// nil for what a shell could not tell from its own signs: control characters, which a name from a service or a
    /// disk may hold.
    init?(_ word: String, _ summary: String = "") {
        guard !word.isEmpty, !word.unicodeScalars.contains(where: TerminalText.isUnwanted) else {
            return nil
        }
        self.word = word
        self.summary = TerminalText.line(summary).truncated(to: 50)
    }
}

/// All that a word can become.
enum CompletionAnswer: Equatable {
    case words([CompletionCandidate])
    /// The shell knows files best.
    case files
}
