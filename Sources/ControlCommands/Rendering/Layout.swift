/// The visible columns of a table and their widths.
struct Layout {
    /// The number of spaces between two columns.
    static let gap = 2
    /// The largest width of a column whose fields are never truncated. A wider field makes only its own line longer.
    static let maximumColumnWidth = 60

    struct Column {
        /// The index of the column in the table.
        let index: Int
        var width: Int
        /// The smallest width to which the column may be narrowed.
        let minimum: Int
    }

    /// The columns from left to right.
    var columns: [Column]

    /// Returns the width of the table, if its columns have these widths.
    fileprivate func total(_ width: KeyPath<Column, Int>) -> Int {
        columns.reduce(0) { $0 + $1[keyPath: width] } + Self.gap * max(0, columns.count - 1)
    }
}

extension Table {
    /// Returns the layout for a terminal with `available` columns.
    ///
    /// First, columns are dropped until the others fit with their minimum widths. Then the widest columns are narrowed.
    /// Identifiers are never truncated, because a part of an identifier cannot be used, so the result may be wider than
    /// the terminal.
    func layout(_ available: Int) -> Layout {
        // Empty columns are dropped first.
        let shown = columns.indices.filter { index in
            columns[index].dropRank == nil || rows.contains { !$0[index].text.isEmpty }
        }
        var layout = Layout(
            columns: shown.map { index in
                let limit = columns[index].minimumWidth
                let cells = rows.map { $0[index].text.displayWidth }
                    .filter { limit != nil || $0 <= Layout.maximumColumnWidth }
                let width = max(columns[index].title.displayWidth, cells.max() ?? 0)
                return .init(index: index, width: width, minimum: min(width, limit ?? width))
            })
        func rank(_ column: Layout.Column) -> Int { columns[column.index].dropRank ?? -1 }
        while layout.total(\.minimum) > available,
            let last = layout.columns.max(by: { rank($0) < rank($1) }), rank(last) >= 0
        {
            layout.columns.removeAll { $0.index == last.index }
        }
        while layout.total(\.width) > available,
            let widest = layout.columns.indices
                .filter({ layout.columns[$0].width > layout.columns[$0].minimum })
                .max(by: { layout.columns[$0].width < layout.columns[$1].width })
        {
            layout.columns[widest].width -= 1
        }
        return layout
    }

    /// Returns true if all fields that must not be truncated fit into a layout that was computed for other rows.
    func fits(_ layout: Layout) -> Bool {
        layout.columns.allSatisfy { column in
            columns[column.index].minimumWidth != nil
                || rows.map { $0[column.index].text.displayWidth }
                    .allSatisfy { $0 <= column.width || $0 > Layout.maximumColumnWidth }
        }
    }
}
