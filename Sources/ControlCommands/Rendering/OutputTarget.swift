/// The kind of output, which determines the format of results.
enum OutputTarget: Equatable {
    /// A terminal with this number of columns: aligned tables.
    case terminal(columns: Int, isColoured: Bool)
    /// A file or pipe: all fields, separated by tabs, without colours.
    case pipe

    /// Returns `text` with the control sequences of a style, if the target is a terminal with colours.
    func styled(_ text: String, _ style: TextStyle) -> String {
        guard case .terminal(_, isColoured: true) = self, let code = style.code, !text.isEmpty
        else {
            return text
        }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// The emphasis of a piece of text.
enum TextStyle {
    case plain
    case heading
    case faint
    case good
    case warning
    case bad

    /// The parameter of the control sequence SGR. Only the palette of the terminal is used, which suits dark and light
    /// backgrounds.
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
