internal import ArgumentParser
internal import Translation

struct CompletionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: tr("Print a shell script that completes commands, accounts, sources and photos."))

    @Argument(help: .init(tr("The shell: bash, zsh or fish.")))
    var shell: CompletingShell

    @MainActor func run() async throws { try Console.write(shell.script) }
}

/// The hidden command that the scripts of `completion` run for each completion.
struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: tr("Print the completions of a word."),
        shouldDisplay: false)

    @Argument var shell: CompletingShell
    /// For bash, the line up to the cursor and the value of `COMP_WORDBREAKS`; for other shells, the words up to the
    /// cursor.
    @Argument(parsing: .postTerminator) var words: [String] = []

    @MainActor func run() async throws {
        // The shell blocks input during a completion, and the daemon may be busy.
        let timeout = CompletionTimeout(milliseconds: 500)
        defer { withExtendedLifetime(timeout) {} }
        let line =
            shell == .bash
            ? ShellWords(words.first ?? "", breaks: words.dropFirst().first ?? "") : nil
        let typed = line.map { Array($0.words.dropFirst()) } ?? words
        let outline = try CommandOutline.ofThisProgram().command
        let result = await CompletionSource(
            outline: outline, request: CompletionRequest(typed, outline)
        ).result()
        try Console.write(Self.text(result, line))
    }

    private static func text(_ result: CompletionResult, _ line: ShellWords?) -> String {
        guard case .words(let candidates) = result else { return "\t\n" }
        return candidates.compactMap { candidate in
            if let line { return line.replacement(candidate.word).map { $0 + "\n" } }
            return candidate.summary.isEmpty
                ? "\(candidate.word)\n" : "\(candidate.word)\t\(candidate.summary)\n"
        }.joined()
    }
}
