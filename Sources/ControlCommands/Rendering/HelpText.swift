internal import Translation

/// The help of the argument parser in the language of the user.
///
/// The parser has no translations and counts characters instead of columns. Lines that it writes in another form stay in
/// English.
enum HelpText {
    /// Returns the output of the parser with translated headings and with lines that fit into the terminal.
    ///
    /// - Parameters:
    ///   - text: The output. Output other than help stays unchanged.
    ///   - columns: The number of columns of the terminal.
    /// - Returns: The text.
    static func translated(_ text: String, columns: Int = columns) -> String {
        guard isTextTranslated, text.hasPrefix("OVERVIEW: ") else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap {
                translated(line: $0).split(separator: "\n", omittingEmptySubsequences: false)
            }
            .flatMap { wrapped($0, columns) }.joined(separator: "\n")
    }

    /// Translates a line of the parser, such as `See 'imagefeedctl feed --help' for more information.`
    static func translated(advice: some StringProtocol) -> String {
        let parts = advice.split(separator: "'")
        let command = parts.count == 3 ? String(parts[1]) : ""
        return switch parts.last {
        case " for more information.":
            tr("See '{command}' for more information.", ["command": command])
        case " for detailed help.": tr("See '{command}' for detailed help.", ["command": command])
        default: String(advice.drop { $0 == " " })
        }
    }

    private static var columns: Int {
        if case .terminal(let columns, _) = OutputTarget.standardOutput { columns } else { 80 }
    }

    /// The first column of descriptions.
    private static let indent = 26

    /// The headings that are followed by text. They are on lines of their own, because the text is aligned with them.
    private static let headings = [
        "OVERVIEW: ": tr("OVERVIEW:") + "\n",
        "USAGE: ": tr("USAGE:") + "\n" + String(repeating: " ", count: 7),
    ]

    private static let texts = [
        "Show the version.": tr("Show the version."),
        "Show help information.": tr("Show help information."),
    ]

    private static func translated(line: Substring) -> String {
        switch line {
        case "ARGUMENTS:": return tr("ARGUMENTS:")
        case "OPTIONS:": return tr("OPTIONS:")
        case "SUBCOMMANDS:": return tr("SUBCOMMANDS:")
        case _ where line.hasPrefix("  See '"): return "  " + translated(advice: line)
        default: break
        }
        for (prefix, heading) in headings where line.hasPrefix(prefix) {
            return heading + line.dropFirst(prefix.count)
        }
        for (english, text) in texts where line.hasSuffix(" " + english) {
            return line.dropLast(english.count) + text
        }
        return String(line)
    }

    /// Returns the lines of a line that is too long, with the indentation of its description.
    private static func wrapped(_ line: Substring, _ columns: Int) -> [String] {
        guard line.displayWidth > columns else { return [String(line)] }
        let spaces = line.prefix { $0 == " " }.count
        let isOption = spaces == 2 && line.dropFirst(indent - 1).first == " "
        let start = isOption ? indent : spaces
        let rest = line.dropFirst(start).wrapped(to: max(10, columns - start))
        let margin = String(repeating: " ", count: start)
        return rest.enumerated().map { $0 == 0 ? line.prefix(start) + $1 : margin + $1 }
    }
}
