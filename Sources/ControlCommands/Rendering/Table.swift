/// A table with a row for each value, which is aligned on a terminal and tab-separated in a pipe.
struct Table<Value> {
    /// A column of a table, with its rules for narrow terminals.
    struct Column {
        let title: String
        /// The smallest width to which the column may be truncated; nil if it must not be truncated.
        var minimumWidth: Int?
        /// The rank in which columns are dropped, highest first; nil if the column must not be dropped.
        var dropRank: Int?
        var isNumber = false
        /// Returns the field of a value.
        let cell: (Value) -> Cell
    }

    let columns: [Column]
    let rows: [[Cell]]

    init(_ values: [Value], columns: [Column]) {
        self.columns = columns
        rows = values.map { value in columns.map { $0.cell(value) } }
    }

    /// Returns the table with a line feed after each line; empty if there are no rows.
    ///
    /// For a pipe, the text has no heading and contains all columns.
    func text(for target: OutputTarget) -> String {
        var layout: [VisibleColumn]?
        return text(for: target, continuing: &layout)
    }

    /// Returns the table as the continuation of another one.
    ///
    /// - Parameters:
    ///   - target: The kind of output.
    ///   - layout: The layout of the other table; nil if there is none. If an identifier does not fit, the table gets a
    ///     new layout, and a heading.
    /// - Returns: The text, as that of ``text(for:)``.
    func text(for target: OutputTarget, continuing layout: inout [VisibleColumn]?) -> String {
        guard case .terminal(let width, _) = target else {
            return rows.map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined()
        }
        guard !rows.isEmpty else { return "" }
        var lines = rows
        if layout.map(fits) != true {
            layout = self.layout(width)
            lines.insert(columns.map { Cell($0.title, .heading) }, at: 0)
        }
        return lines.map { line($0, layout ?? [], target) + "\n" }.joined()
    }

    private func line(
        _ cells: [Cell], _ layout: [VisibleColumn], _ target: OutputTarget
    ) -> String {
        var line = ""
        var padding = 0
        for column in layout {
            let (index, width) = (column.index, column.width)
            let cell = cells[index]
            let text =
                columns[index].minimumWidth == nil ? cell.text : cell.text.truncated(to: width)
            guard !text.isEmpty else {
                padding += width + VisibleColumn.gap
                continue
            }
            let missing = max(0, width - text.displayWidth)
            let before = columns[index].isNumber ? missing : 0
            // Padding is written only in front of another field, so that no line ends in spaces.
            line +=
                String(repeating: " ", count: padding + before) + target.styled(text, cell.style)
            padding = missing - before + VisibleColumn.gap
        }
        return line
    }
}

/// A field of a table, without control characters.
struct Cell: Equatable {
    let text: String
    var style = TextStyle.plain

    /// Creates a field from text that may be untrusted; control characters are removed.
    init(_ text: String, _ style: TextStyle = .plain) {
        self.text = TerminalText.line(text)
        self.style = style
    }
}

extension OutputTarget {
    /// Returns a list of names and values, one pair per line, without the empty values.
    ///
    /// The values are aligned and wrapped on a terminal. In a pipe, the lines are `name TAB value`.
    func details(_ pairs: [(name: String, value: String)]) -> String {
        let shown = pairs.map { (name: $0, value: TerminalText.line($1)) }
            .filter { !$0.value.isEmpty }
        guard case .terminal(let columns, _) = self else {
            return shown.map { "\($0.name)\t\($0.value)\n" }.joined()
        }
        let indent = (shown.map(\.name.displayWidth).max() ?? 0) + VisibleColumn.gap
        return shown.map { name, value in
            let lines = value.wrapped(to: max(10, columns - indent))
            let padding = String(repeating: " ", count: indent - name.displayWidth)
            let margin = "\n" + String(repeating: " ", count: indent)
            return styled(name, .heading) + padding + lines.joined(separator: margin) + "\n"
        }.joined()
    }
}
