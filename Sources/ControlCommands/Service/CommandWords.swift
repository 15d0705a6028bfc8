internal import Translation

/// The program and the arguments of an option value such as `swaybg -m fill -i`.
///
/// The value is split into words as by a shell: at white space, except in quotation marks and after a backslash. No
/// other character has a special meaning, so no text is expanded or executed.
struct CommandWords: Equatable {
    let program: String
    let arguments: [String]

    /// The reason why a value is not a command.
    enum Failure: Error, CustomStringConvertible {
        case empty
        case openQuotationMark

        var description: String {
            switch self {
            case .empty: tr("The command is empty.")
            case .openQuotationMark: tr("The command has an unmatched quotation mark.")
            }
        }
    }

    /// Splits a value.
    ///
    /// - Parameter text: In single quotation marks, every character is literal. In double quotation marks, a backslash
    ///   quotes `"` and `\`. Outside of both, a backslash quotes the next character.
    /// - Throws: ``Failure``.
    init(_ text: String) throws(Failure) {
        var words: [String] = []
        // The incomplete word; nil between two words.
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                if quote == "\"", character != "\"", character != "\\" { word?.append("\\") }
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
                word = word ?? ""
            } else if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw .openQuotationMark }
        if isEscaped { word?.append("\\") }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else { throw .empty }
        self.program = program
        arguments = Array(words.dropFirst())
    }
}
