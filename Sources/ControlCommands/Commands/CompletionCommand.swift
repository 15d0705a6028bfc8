internal import ArgumentParser

struct CompletionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print what makes a shell complete commands, accounts, sources and photos.")

    @Argument(help: "bash, zsh or fish.")
    var shell: CompletingShell

    @MainActor func run() async throws { try Console.write(shell.script) }
}

/// What the scripts of `completion` ask.
struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "Print what a word can become.", shouldDisplay: false)

    @Argument var shell: CompletingShell
    /// For bash the line to the cursor, and where it breaks words; else the words to the cursor.
    @Argument(parsing: .postTerminator) var words: [String] = []

    @MainActor func run() async throws {
        // The daemon may be busy; who presses a key waits no longer than this for it.
        let patience = CompletionTimeout(milliseconds: 500)
        defer { withExtendedLifetime(patience) {} }
        let line =
            shell == .bash
            ? ShellWords(words.first ?? "", breaks: words.dropFirst().first ?? "") : nil
        let typed = line.map { Array($0.words.dropFirst()) } ?? words
        let outline = try CommandOutline.ofThisProgram().command
        let answer = await CompletionSource(
            outline: outline, request: CompletionRequest(typed, outline)
        ).answer()
        try Console.write(Self.text(answer, line))
    }

    private static func text(_ answer: CompletionAnswer, _ line: ShellWords?) -> String {
        guard case .words(let candidates) = answer else { return "\t\n" }
        return candidates.compactMap { candidate in
            if let line { return line.replacement(candidate.word).map { $0 + "\n" } }
            return candidate.summary.isEmpty
                ? "\(candidate.word)\n" : "\(candidate.word)\t\(candidate.summary)\n"
        }.joined()
    }
}
