internal import ArgumentParser
internal import Translation

extension ShellWords {
    /// Returns the program and the arguments of an option value such as `swaybg -m fill -i`.
    ///
    /// The value is split into words as by a shell: at white space, except in quotation marks and after a backslash. No
    /// other character has a special meaning, so no text is expanded or executed.
    ///
    /// - Parameter text: In single quotation marks, every character is literal. In double quotation marks, a backslash
    ///   quotes `"` and `\`. Outside of both, a backslash quotes the next character.
    /// - Returns: At least one word.
    /// - Throws: `ValidationError`.
    static func command(_ text: String) throws -> [String] {
        let line = ShellWords(text, operators: "", escapable: "\"\\")
        guard line.quote == nil else {
            throw ValidationError(tr("The command has an unmatched quotation mark."))
        }
        var words = line.words
        if line.isEscaped { words[words.count - 1].append("\\") }
        if !line.isBegun { words.removeLast() }
        guard let program = words.first, !program.isEmpty else {
            throw ValidationError(tr("The command is empty."))
        }
        return words
    }
}
