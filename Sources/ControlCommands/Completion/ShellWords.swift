/// A line of bash up to the cursor, in words.
///
/// What bash itself hands over is cut at `:` and `=`, too, which stand in the ids of sources.
struct ShellWords: Equatable {
    /// The words, without their quotes; the last one, which may be empty, is being typed.
    private(set) var words: [String] = [""]
    /// How many characters of the last word stand before what bash replaces.
    private(set) var kept = 0
    /// The quote that is open at the end.
    private(set) var quote: Character?
    private let breaks: String

    /// - Parameters:
    ///   - line: From its start to the cursor.
    ///   - breaks: Where bash begins to replace: the variable `COMP_WORDBREAKS`.
    ///
    /// Source: `bash(1)`, QUOTING and Programmable Completion.
    init(_ line: String, breaks: String) {
        self.breaks = breaks
        var isEscaped = false
        // Whether the word is more than the white space before it.
        var isBegun = false
        for character in line {
            if quote == nil, !isEscaped, character.isWhitespace {
                if isBegun { words.append("") }
                isBegun = false
                kept = 0
                continue
            }
            isBegun = true
            if isEscaped {
                // In quotes, a backslash before anything else stands for itself.
                if quote == "\"", !"\"\\$`".contains(character) { add("\\") }
                add(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { add(character) }
            } else {
                isBegun = !";|&(".contains(character)
                addUnquoted(character)
            }
        }
    }

    private mutating func addUnquoted(_ character: Character) {
        switch character {
        case "'", "\"":
            quote = character
            keep()
        // What follows is another command.
        case ";", "|", "&", "(":
            words = [""]
            kept = 0
        default:
            add(character)
            if breaks.contains(character) { keep() }
        }
    }

    private mutating func add(_ character: Character) { words[words.count - 1].append(character) }
    private mutating func keep() { kept = words.last?.count ?? 0 }

    /// What has to be typed for the last word to become `word`; nil if it cannot be within the quotes that are open.
    ///
    /// Nothing in it is left for bash to expand.
    func replacement(_ word: String) -> String? {
        let rest = String(word.dropFirst(kept))
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
