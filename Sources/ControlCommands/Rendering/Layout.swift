/// The visible columns of a table and their widths.
struct Layout {
    /// The number of spaces between two columns.
    static let gap = 2
    /// The largest width of a column whose fields are never truncated. A wider field makes only its own line longer.
    static let maximumColumnWidth = 60

    /// The indices and widths of the visible columns, from left to right.
    var widths: [(index: Int, width: Int)]

    var total: Int { widths.reduce(0) { $0 + $1.width } + Self.gap * max(0, widths.count - 1) }
}

extension Table {
    /// Returns the layout for a terminal with `available` columns.
    ///
    /// First, columns are dropped until the others fit with their minimum widths. Then the widest columns are narrowed.
    /// Identifiers are never truncated, because a part of an identifier cannot be used, so the result may be wider than
    /// the terminal.
    func layout(_ available: Int) -> Layout {
        var layout = Layout(
            widths: columns.enumerated().map { index, column in
                let cells = rows.map { $0[index].text.displayWidth }
                    .filter { column.minimumWidth != nil || $0 <= Layout.maximumColumnWidth }
                return (index, max(column.title.displayWidth, cells.max() ?? 0))
            })
        dropColumns(&layout, available)
        cutColumns(&layout, available)
        return layout
    }

    /// Returns true if all fields that must not be truncated fit into a layout that was computed for other rows.
    func fits(_ layout: Layout) -> Bool {
        layout.widths.allSatisfy { index, width in
            columns[index].minimumWidth != nil
                || rows.map { $0[index].text.displayWidth }
                    .allSatisfy { $0 <= width || $0 > Layout.maximumColumnWidth }
        }
    }

    private func dropColumns(_ layout: inout Layout, _ available: Int) {
        func smallest(_ layout: Layout) -> Int {
            Layout(widths: layout.widths.map { ($0.index, smallest($0)) }).total
        }
        func smallest(_ column: (index: Int, width: Int)) -> Int {
            min(column.width, columns[column.index].minimumWidth ?? column.width)
        }
        // Empty columns are dropped first.
        layout.widths.removeAll { index, _ in
            columns[index].dropRank != nil && rows.allSatisfy { $0[index].text.isEmpty }
        }
        while smallest(layout) > available {
            let candidates = layout.widths.indices.compactMap { position in
                columns[layout.widths[position].index].dropRank.map {
                    (position: position, rank: $0)
                }
            }
            guard let first = candidates.max(by: { $0.rank < $1.rank }) else { return }
            layout.widths.remove(at: first.position)
        }
    }

    private func cutColumns(_ layout: inout Layout, _ available: Int) {
        while layout.total > available {
            let candidates = layout.widths.indices.filter { position in
                columns[layout.widths[position].index].minimumWidth
                    .map { $0 < layout.widths[position].width } ?? false
            }
            let widest = candidates.max { layout.widths[$0].width < layout.widths[$1].width }
            guard let widest else { return }
            layout.widths[widest].width -= 1
        }
    }
}
