/// A visible column of a table on a terminal.
struct VisibleColumn {
    /// The index of the column in the table.
    let index: Int
    var width: Int
    /// The smallest width to which the column may be narrowed.
    let minimum: Int

    /// The number of spaces between two columns.
    static let gap = 2
    /// The largest width of a column whose fields are never truncated. A wider field makes only its own line longer.
    fileprivate static let maximumWidth = 60
}

extension Table {
    /// Returns the visible columns from left to right, for a terminal with `available` columns.
    ///
    /// First, columns are dropped until the others fit with their minimum widths. Then the widest columns are narrowed.
    /// Identifiers are never truncated, because a part of an identifier cannot be used, so the result may be wider than
    /// the terminal.
    func layout(_ available: Int) -> [VisibleColumn] {
        // Empty columns are dropped first.
        let shown = columns.indices.filter { index in
            columns[index].dropRank == nil || rows.contains { !$0[index].text.isEmpty }
        }
        var layout = shown.map { index in
            let limit = columns[index].minimumWidth
            let cells = rows.map { $0[index].text.displayWidth }
                .filter { limit != nil || $0 <= VisibleColumn.maximumWidth }
            let width = max(columns[index].title.displayWidth, cells.max() ?? 0)
            return VisibleColumn(index: index, width: width, minimum: min(width, limit ?? width))
        }
        func total(_ width: KeyPath<VisibleColumn, Int>) -> Int {
            layout.reduce(-VisibleColumn.gap) { $0 + $1[keyPath: width] + VisibleColumn.gap }
        }
        func rank(_ column: VisibleColumn) -> Int { columns[column.index].dropRank ?? -1 }
        while total(\.minimum) > available,
            let last = layout.max(by: { rank($0) < rank($1) }), rank(last) >= 0
        {
            layout.removeAll { $0.index == last.index }
        }
        while total(\.width) > available,
            let widest = layout.indices.filter({ layout[$0].width > layout[$0].minimum })
                .max(by: { layout[$0].width < layout[$1].width })
        {
            layout[widest].width -= 1
        }
        return layout
    }

    /// Returns true if all fields that must not be truncated fit into a layout that was computed for other rows.
    func fits(_ layout: [VisibleColumn]) -> Bool {
        layout.allSatisfy { column in
            columns[column.index].minimumWidth != nil
                || rows.map { $0[column.index].text.displayWidth }
                    .allSatisfy { $0 <= column.width || $0 > VisibleColumn.maximumWidth }
        }
    }
}
