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

    /// Translates an error of the parser, such as `Unknown option '--x'`. A message of this program is unchanged.
    static func translated(error text: String) -> String {
        // The texts at the odd indices are quoted.
        let parts = text.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        guard isTextTranslated, parts.count > 2 else { return text }
        let middle = parts.firstIndex(of: " is invalid for ") ?? parts.count - 1
        let quoted = parts[1..<middle].joined(separator: "'")
        let next = middle + 1 < parts.count ? parts[middle + 1] : ""
        let rest = parts.dropFirst(middle + 2).joined(separator: "'")
            .replacing(". Please provide one of ", with: ": ").replacing(" or ", with: ", ")
            .replacing(" and ", with: ", ")
        switch parts[0] {
        case "Unknown option " where parts.count > 4:
            return tr(
                "There is no option '{option}'. Did you mean '{other}'?",
                ["option": parts[1], "other": parts[3]])
        case "Unknown option ": return tr("There is no option '{option}'.", ["option": quoted])
        case "Missing value for ": return tr("'{option}' has no value.", ["option": quoted])
        case "Missing expected argument ":
            return tr("'{argument}' is missing.", ["argument": quoted])
        case "The option ": return tr("'{option}' takes no value.", ["option": parts[1]])
        case "The value ":
            return tr(
                "The value '{value}' is invalid for '{option}'",
                ["value": quoted, "option": next]) + rest
        case let start where start.hasPrefix("Unexpected ") || start.contains(" unexpected "):
            return tr("Unexpected arguments: '{arguments}'.", ["arguments": quoted])
        default: return text
        }
    }

    private static var columns: Int {
        if case .terminal(let columns, _) = OutputTarget.standardOutput { columns } else { 80 }
    }

    /// The first column of descriptions.
    private static let indent = 26

    /// Headings that are followed by text become lines of their own, because the text is aligned with them.
    private static func translated(line: Substring) -> String {
        switch line {
        case "ARGUMENTS:": tr("ARGUMENTS:")
        case "OPTIONS:": tr("OPTIONS:")
        case "SUBCOMMANDS:": tr("SUBCOMMANDS:")
        case _ where line.hasPrefix("OVERVIEW: "): tr("OVERVIEW:") + "\n" + line.dropFirst(10)
        case _ where line.hasPrefix("USAGE: "):
            tr("USAGE:") + "\n" + String(repeating: " ", count: 7) + line.dropFirst(7)
        case _ where line.hasPrefix("  See '"): "  " + translated(advice: line)
        case _ where line.hasSuffix(" Show the version."):
            line.dropLast(17) + tr("Show the version.")
        case _ where line.hasSuffix(" Show help information."):
            line.dropLast(22) + tr("Show help information.")
        default:
            // Translators: before the possible values of an option, in the help of the command line.
            String(line).replacing("(values:", with: "(" + tr("values:"))
                // Translators: before the value that an option has if it is omitted.
                .replacing("default:", with: tr("default:"))
        }
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
