/// A parsed command line, with the kind of completion for its last word.
struct CompletionRequest {
    /// The kind of completion for the last word.
    enum Expected: Equatable {
        /// One of the commands below ``CompletionRequest/command``.
        case command
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

    /// The innermost command whose name is complete; the program if there is none.
    private(set) var command: CommandOutline.Command
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
    ///   - program: The commands of the program.
    init(_ words: [String], _ program: CommandOutline.Command) {
        prefix = words.last ?? ""
        command = program
        var typed = words.dropLast()
        while let index = typed.firstIndex(where: { command.subcommand($0) != nil }) {
            command = command.subcommand(typed[index]) ?? command
            typed = typed[(index + 1)...]
            if command.commandName == "help" {
                readHelp(typed, program)
                return
            }
        }
        readArguments(typed)
    }

    /// Reads the complete words after `help`, which are the names of commands.
    private mutating func readHelp(_ words: ArraySlice<String>, _ program: CommandOutline.Command) {
        command = program
        for word in words {
            guard let next = command.subcommand(word) else { return }
            command = next
        }
        if !command.visibleCommands.isEmpty { expected = .command }
    }

    /// Reads the complete words after the name of a command, in front of a subcommand.
    private mutating func readArguments(_ words: ArraySlice<String>) {
        var open: CommandOutline.Argument?
        var positionals = command.positionals[...]
        var areOptionsOver = false
        for word in words {
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
            expected =
                positionals.first?.expected
                ?? (command.visibleCommands.isEmpty ? .nothing : .command)
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
