/// Where an answer goes, and so how it looks.
enum OutputTarget: Equatable {
    /// A person reads it, in a window of this many columns.
    case terminal(columns: Int, isColoured: Bool)
    /// A file or a program reads it: all fields, separated by tabs, without colour.
    case pipe

    /// `text` in a colour, where colours are shown.
    func inked(_ text: String, _ ink: TextStyle) -> String {
        guard case .terminal(_, isColoured: true) = self, let code = ink.code, !text.isEmpty else {
            return text
        }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// How a piece of text stands out.
enum TextStyle {
    case plain
    case heading
    case faint
    case good
    case warning
    case bad

    /// The parameter of `SGR`; only the terminal's own palette, so it fits dark and light ones.
    ///
    /// Source: ECMA-48, 8.3.117.
    fileprivate var code: String? {
        switch self {
        case .plain: nil
        case .heading: "1"
        case .faint: "2"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        }
    }
}
