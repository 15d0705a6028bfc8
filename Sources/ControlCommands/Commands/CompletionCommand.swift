internal import ArgumentParser
internal import Glibc
internal import System
internal import Translation

struct CompletionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: tr("Print a shell script that completes commands, accounts, sources and photos."))

    @Argument(help: .tr("The shell: bash, zsh or fish."))
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
        let timeout = MainLoopTimer(after: .milliseconds(500)) {
            Glibc.exit(ProgramStatus.done.rawValue)
        }
        defer { withExtendedLifetime(timeout) {} }
        let line =
            shell == .bash
            ? ShellWords(words.first ?? "", breaks: words.dropFirst().first ?? "") : nil
        let typed = line.map { Array($0.words.dropFirst()) } ?? words
        guard let outline = CommandOutline.ofThisProgram else { return }
        let request = CompletionRequest(typed, outline.command)
        guard let candidates = await request.candidates() else { return try Console.write("\t\n") }
        for candidate in candidates {
            if let line {
                if let text = line.replacement(candidate.word) { try Console.write(text + "\n") }
            } else {
                let fields = [candidate.word, candidate.summary].filter { !$0.isEmpty }
                try Console.write(TerminalText.fields(fields))
            }
        }
    }
}

/// A shell for which the program offers completions.
enum CompletingShell: String, CaseIterable, ExpressibleByArgument {
    case bash
    case zsh
    case fish

    /// The script that registers the completion with the shell.
    ///
    /// A shell never evaluates names that come from a service: bash receives quoted words, and zsh and fish quote the
    /// words themselves. Output that is a single tab requests the completion of file names.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    private static let bashScript = #"""
        # bash completion for imagefeedctl
        _imagefeedctl() {
            mapfile -t COMPREPLY < <(
                imagefeedctl complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null
            )
            if [[ ${COMPREPLY[0]-} == $'\t' ]]; then
                COMPREPLY=()
                compopt -o default
            elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]]; then
                compopt -o nospace
            fi
        }
        complete -o nosort -F _imagefeedctl imagefeedctl

        """#

    private static let zshScript = #"""
        #compdef imagefeedctl
        _imagefeedctl() {
            local line word
            local -a words_ summaries open_words open_summaries
            while IFS= read -r line; do
                if [[ $line == $'\t' ]]; then
                    compset -P '--*='
                    _files
                    return
                fi
                word=${line%%$'\t'*}
                [[ $line == *$'\t'* ]] && line="$word  -- ${line#*$'\t'}"
                if [[ $word == *[/=] ]]; then
                    open_words+=("$word")
                    open_summaries+=("$line")
                else
                    words_+=("$word")
                    summaries+=("$line")
                fi
            done < <(
                imagefeedctl complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null
            )
            compadd -l -V imagefeedctl -d summaries -a words_
            compadd -l -V imagefeedctl-more -S '' -d open_summaries -a open_words
        }
        if [[ $funcstack[1] == _imagefeedctl ]]; then
            _imagefeedctl "$@"
        else
            compdef _imagefeedctl imagefeedctl
        fi

        """#

    private static let fishScript = #"""
        # fish completion for imagefeedctl
        function __imagefeedctl_complete
            set -l words (commandline -opc)
            set -l word (commandline -ct)
            set -l plain (string unescape -- "$word"; or printf '%s\n' "$word")
            set -l answer (imagefeedctl complete fish -- $words[2..-1] "$plain" 2>/dev/null)
            if test "$answer" = \t
                __fish_complete_path "$plain"
            else
                printf '%s\n' $answer
            end
        end
        complete -c imagefeedctl -f -k -a '(__imagefeedctl_complete)'

        """#
}
