/// Rows of fields that a person sees aligned and a program separated by tabs.
struct Table {
    /// One column and what may be taken from it when the window is narrow.
    struct Column {
        let title: String
        /// The fewest columns of the terminal it can be cut to; nil: it is never cut.
        var minimum: Int?
        /// Columns with the highest number are left out first; nil: it always is shown.
        var dropped: Int?
        var isNumber = false
    }

    let columns: [Column]
    let rows: [[Cell]]

    /// The table with a line feed after each line; empty without rows.
    ///
    /// In a pipe there is no heading and no column is missing.
    func text(for medium: OutputTarget) -> String {
        switch medium {
        case .pipe:
            rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
        case .terminal(let columns, _):
            rows.isEmpty ? "" : text(for: medium, layout(columns), hasHeading: true)
        }
    }

    /// Rows that continue a table whose layout was made before.
    func text(for medium: OutputTarget, _ layout: Layout, hasHeading: Bool) -> String {
        let heading = columns.map { Cell($0.title, .heading) }
        return ((hasHeading ? [heading] : []) + rows)
            .map { line($0, layout, medium) + "\n" }.joined()
    }

    private func line(_ cells: [Cell], _ layout: Layout, _ medium: OutputTarget) -> String {
        var line = ""
        var padding = 0
        for (index, width) in layout.widths {
            let cell = cells[index]
            let text = columns[index].minimum == nil ? cell.text : cell.text.truncated(to: width)
            guard !text.isEmpty else {
                padding += width + Layout.gap
                continue
            }
            let missing = max(0, width - text.displayWidth)
            let before = columns[index].isNumber ? missing : 0
            // Nothing is padded on the right before something follows there.
            line += String(repeating: " ", count: padding + before) + medium.inked(text, cell.ink)
            padding = missing - before + Layout.gap
        }
        return line
    }
}

/// A field of a table, free of control characters.
struct Cell: Equatable {
    let text: String
    var ink = TextStyle.plain

    /// - Parameters:
    ///   - text: May come from anywhere.
    ///   - ink: How it stands out.
    init(_ text: String, _ ink: TextStyle = .plain) {
        self.text = TerminalText.line(text)
        self.ink = ink
    }
}
