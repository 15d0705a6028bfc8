/// The words of a line that a shell splits: at white space, except in quotation marks and after a backslash.
struct ShellWords: Equatable {
    /// The words without quotation marks. The last one is the word to complete; it may be empty.
    private(set) var words: [String] = [""]
    /// True if the last word has begun; false in the white space in front of it.
    private(set) var isBegun = false
    /// True if the line ends in a backslash that quotes the next character.
    private(set) var isEscaped = false
    /// The number of characters at the start of the last word that bash does not replace.
    private(set) var keptCount = 0
    /// The quotation mark that is still open at the end of the line.
    private(set) var quote: Character?

    /// Splits a line into words.
    ///
    /// - Parameters:
    ///   - line: The line from its start to the cursor.
    ///   - breaks: The characters after which bash replaces text: the variable `COMP_WORDBREAKS`.
    ///   - operators: The characters that begin another command.
    ///   - escapable: The characters that a backslash quotes in double quotes. In front of others, it is literal.
    ///
    /// Source: `bash(1)`, QUOTING and Programmable Completion.
    init(
        _ line: String, breaks: String = "", operators: String = ";|&(",
        escapable: String = "\"\\$`"
    ) {
        for character in line {
            if quote == nil, !isEscaped, character.isWhitespace {
                if isBegun { words.append("") }
                isBegun = false
                keptCount = 0
                continue
            }
            isBegun = true
            if isEscaped {
                if quote == "\"", !escapable.contains(character) { add("\\") }
                add(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { add(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                updateKeptCount()
            } else if operators.contains(character) {
                words = [""]
                isBegun = false
                keptCount = 0
            } else {
                add(character)
                if breaks.contains(character) { updateKeptCount() }
            }
        }
    }

    private mutating func add(_ character: Character) { words[words.count - 1].append(character) }
    private mutating func updateKeptCount() { keptCount = words.last?.count ?? 0 }

    /// Returns the quoted text that turns the last word into `word`; nil if the open quotation mark does not allow it.
    ///
    /// The text contains nothing that bash expands.
    func replacement(_ word: String) -> String? {
        let rest = String(word.dropFirst(keptCount))
        switch quote {
        case "'"?: return rest.contains("'") ? nil : rest
        case .some: return rest.contains { "\"\\$`!".contains($0) } ? nil : rest
        case nil:
            return rest.reduce(into: "") { text, character in
                if let ascii = character.asciiValue, !Self.plain.contains(ascii) {
                    text.append("\\")
                }
                text.append(character)
            }
        }
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,".utf8)
}
