internal import Glibc
internal import System

/// A parsed command line, with the kind of completion for its last word.
struct CompletionRequest: Equatable {
    /// The kind of completion for the last word.
    enum Expected: Equatable {
        /// One of the commands.
        case command
        /// One of the subcommands of a command.
        case subcommand(of: String)
        /// The name of an option of the command. If no option matches, a value of this name, because photo IDs may
        /// begin with a hyphen.
        case option(orValue: String?)
        /// A value with this name in the help, such as `account` or `photo`.
        case value(String)
        /// One of a fixed set of words.
        case oneOf([String])
        /// No completion.
        case nothing
    }

    /// The name of the command; nil if the line has no complete command name yet.
    private(set) var command: String?
    /// The name of the subcommand; nil if ``command`` has none, or if the line has no complete name yet.
    private(set) var subcommand: String?
    /// The typed part of the last word, without an option name and `=` in front of it.
    private(set) var prefix: String
    /// The part of the last word in front of ``prefix``, such as `--size=`.
    private(set) var optionPrefix = ""
    private(set) var expected = Expected.nothing
    /// The typed values of arguments and options, by their names in the help.
    private(set) var values: [String: String] = [:]
    /// The spellings of the typed options, which are not offered again.
    private(set) var usedOptions: Set<String> = []

    /// Parses a command line.
    ///
    /// - Parameters:
    ///   - words: The unquoted words between the program's name and the cursor. The last one is completed; it may be
    ///     empty.
    ///   - outline: The commands of the program.
    init(_ words: [String], _ outline: CommandOutline.Command) {
        prefix = words.last ?? ""
        let isCommand = { (word: String) in
            outline.visibleCommands.contains { $0.commandName == word }
        }
        guard let first = words.dropLast().firstIndex(where: isCommand),
            let command = outline.visibleCommands.first(where: { $0.commandName == words[first] })
        else {
            expected = prefix.hasPrefix("-") ? .option(orValue: nil) : .command
            return
        }
        self.command = command.commandName
        if command.commandName == "help" {
            readHelp(words[(first + 1)...].dropLast(), outline)
        } else if command.visibleCommands.isEmpty {
            read(words[(first + 1)...], of: command)
        } else {
            readSubcommand(words[(first + 1)...], of: command)
        }
    }

    /// Reads the complete words after `help`: a command and its subcommand.
    private mutating func readHelp(_ words: ArraySlice<String>, _ outline: CommandOutline.Command) {
        guard let name = words.first else {
            expected = .command
            return
        }
        let command = outline.visibleCommands.first { $0.commandName == name }
        if let command, words.count == 1, !command.visibleCommands.isEmpty {
            expected = .subcommand(of: name)
        }
    }

    private mutating func readSubcommand(
        _ words: ArraySlice<String>, of command: CommandOutline.Command
    ) {
        for index in words.indices.dropLast() {
            guard
                let found = command.visibleCommands.first(where: { $0.commandName == words[index] })
            else { continue }
            subcommand = found.commandName
            return read(words[(index + 1)...], of: found)
        }
        expected =
            prefix.hasPrefix("-") ? .option(orValue: nil) : .subcommand(of: command.commandName)
    }

    private mutating func read(_ words: ArraySlice<String>, of command: CommandOutline.Command) {
        var open: CommandOutline.Argument?
        var positionals = command.positionals[...]
        var areOptionsOver = false
        for word in words.dropLast() {
            if let option = open {
                recordValue(option, word)
                open = nil
            } else if word == "--", !areOptionsOver {
                areOptionsOver = true
            } else if !areOptionsOver, word.hasPrefix("-"), let option = command.option(name(word))
            {
                usedOptions.formUnion(option.spellings)
                if option.kind == .option {
                    if let value = value(word) { recordValue(option, value) } else { open = option }
                }
            } else if let positional = positionals.first {
                recordValue(positional, word)
                if !positional.isRepeating { positionals.removeFirst() }
            }
        }
        if let open {
            expected = open.expected
        } else if !areOptionsOver, prefix.hasPrefix("--"), let value = value(prefix),
            let option = command.option(name(prefix)), option.kind == .option
        {
            optionPrefix = "\(name(prefix))="
            prefix = value
            expected = option.expected
        } else if !areOptionsOver, prefix.hasPrefix("-") {
            expected = .option(orValue: positionals.first?.valueName)
        } else {
            expected = positionals.first?.expected ?? .nothing
        }
    }

    private mutating func recordValue(_ argument: CommandOutline.Argument, _ value: String) {
        if let name = argument.valueName { values[name] = value }
    }

    private func name(_ word: String) -> Substring { word.prefix { $0 != "=" } }

    private func value(_ word: String) -> String? {
        word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
    }
}

extension CommandOutline.Argument {
    fileprivate var expected: CompletionRequest.Expected {
        if let allValues, !allValues.isEmpty { return .oneOf(allValues) }
        return valueName.map { .value($0) } ?? .nothing
    }
}

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

/// A timer that ends the program without a message after a time limit.
@MainActor
final class CompletionTimeout {
    private let timer: MainLoopTimer

    init(milliseconds: Int) {
        timer = MainLoopTimer(after: .milliseconds(milliseconds)) {
            exit(ProgramStatus.done.rawValue)
        }
    }
}
