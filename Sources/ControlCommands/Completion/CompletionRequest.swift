/// What stands on a command line, and what may come in place of its last word.
struct CompletionRequest: Equatable {
    /// What the last word can become.
    enum Wanted: Equatable {
        /// One of the commands.
        case command
        /// The name of an option of the command; or, as the ids of photos may begin with a hyphen, a value of this name.
        case option(else: String?)
        /// A value of this name, such as `account` or `photo`.
        case value(String)
        /// One of a few words.
        case oneOf([String])
        /// Nothing that could be guessed.
        case nothing
    }

    /// The name of the command; nil as long as it is not typed to its end.
    private(set) var command: String?
    /// What is typed of the word, without the name of its option before a `=`.
    private(set) var prefix: String
    /// What stands before ``prefix`` in the same word: `--size=`.
    private(set) var fixed = ""
    private(set) var wanted = Wanted.nothing
    /// The values of options that are typed already, by their names in the help.
    private(set) var given: [String: String] = [:]
    /// The options that need not be offered again, as they are typed.
    private(set) var used: Set<String> = []

    /// - Parameters:
    ///   - words: The words of the line after the program's name, unquoted, to the cursor. The last one is to be completed; it
    ///     may be empty.
    ///   - outline: What can be typed.
    init(_ words: [String], _ outline: CommandOutline.Command) {
        prefix = words.last ?? ""
        let isCommand = { (word: String) in
            outline.visibleCommands.contains { $0.commandName == word }
        }
        guard let first = words.dropLast().firstIndex(where: isCommand),
            let command = outline.visibleCommands.first(where: { $0.commandName == words[first] })
        else {
            wanted = prefix.hasPrefix("-") ? .option(else: nil) : .command
            return
        }
        self.command = command.commandName
        if command.commandName == "help" {
            wanted = .command
        } else {
            read(words[(first + 1)...], of: command)
        }
    }

    private mutating func read(_ words: ArraySlice<String>, of command: CommandOutline.Command) {
        var open: CommandOutline.Argument?
        var places = command.positionals[...]
        var areOptionsOver = false
        for word in words.dropLast() {
            if let option = open {
                note(option, word)
                open = nil
            } else if word == "--", !areOptionsOver {
                areOptionsOver = true
            } else if !areOptionsOver, word.hasPrefix("-"), let option = command.option(name(word))
            {
                used.formUnion(option.spellings)
                if option.kind == .option {
                    if let value = value(word) { note(option, value) } else { open = option }
                }
            } else if let place = places.first {
                note(place, word)
                if !place.isRepeating { places.removeFirst() }
            }
        }
        if let open {
            wanted = open.wanted
        } else if !areOptionsOver, prefix.hasPrefix("--"), let value = value(prefix),
            let option = command.option(name(prefix)), option.kind == .option
        {
            fixed = "\(name(prefix))="
            prefix = value
            wanted = option.wanted
        } else if !areOptionsOver, prefix.hasPrefix("-") {
            wanted = .option(else: places.first?.valueName)
        } else {
            wanted = places.first?.wanted ?? .nothing
        }
    }

    private mutating func note(_ argument: CommandOutline.Argument, _ value: String) {
        if let name = argument.valueName { given[name] = value }
    }

    private func name(_ word: String) -> Substring { word.prefix { $0 != "=" } }

    private func value(_ word: String) -> String? {
        word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
    }
}

extension CommandOutline.Argument {
    fileprivate var wanted: CompletionRequest.Wanted {
        if let allValues, !allValues.isEmpty { return .oneOf(allValues) }
        return valueName.map { .value($0) } ?? .nothing
    }
}
