/// Which columns of a table are shown, and how wide.
struct Layout: Equatable {
    /// The columns of the terminal between two columns of a table.
    static let gap = 2
    /// A field that may not be cut and is wider than this makes its own line longer, and not the column wider.
    static let widest = 60

    /// The shown columns by their place in the table, from left to right.
    var widths: [(index: Int, width: Int)]

    var total: Int { widths.reduce(0) { $0 + $1.width } + Self.gap * max(0, widths.count - 1) }

    static func == (left: Layout, right: Layout) -> Bool {
        left.widths.map(\.index) == right.widths.map(\.index)
            && left.widths.map(\.width) == right.widths.map(\.width)
    }
}

extension Table {
    /// Fits the table into `available` columns of a terminal.
    ///
    /// First columns are left out until the others fit at their smallest, then the widest are cut. Columns that
    /// may not be cut can make the result wider than asked for: half an identifier is of no use.
    func layout(_ available: Int) -> Layout {
        var layout = Layout(
            widths: columns.enumerated().map { index, column in
                let cells = rows.map { $0[index].text.displayWidth }
                    .filter { column.minimum != nil || $0 <= Layout.widest }
                return (index, max(column.title.displayWidth, cells.max() ?? 0))
            })
        dropColumns(&layout, available)
        cutColumns(&layout, available)
        return layout
    }

    /// Whether a layout that was made for other rows has room for all that may not be cut.
    func fits(_ layout: Layout) -> Bool {
        layout.widths.allSatisfy { index, width in
            columns[index].minimum != nil
                || rows.map { $0[index].text.displayWidth }
                    .allSatisfy { $0 <= width || $0 > Layout.widest }
        }
    }

    private func dropColumns(_ layout: inout Layout, _ available: Int) {
        func smallest(_ layout: Layout) -> Int {
            Layout(widths: layout.widths.map { ($0.index, smallest($0)) }).total
        }
        func smallest(_ column: (index: Int, width: Int)) -> Int {
            min(column.width, columns[column.index].minimum ?? column.width)
        }
        // A column without anything in it is the first to go.
        layout.widths.removeAll { index, _ in
            columns[index].dropped != nil && rows.allSatisfy { $0[index].text.isEmpty }
        }
        while smallest(layout) > available {
            let candidates = layout.widths.indices.compactMap { place in
                columns[layout.widths[place].index].dropped.map { (place: place, rank: $0) }
            }
            guard let first = candidates.max(by: { $0.rank < $1.rank }) else { return }
            layout.widths.remove(at: first.place)
        }
    }

    private func cutColumns(_ layout: inout Layout, _ available: Int) {
        while layout.total > available {
            let candidates = layout.widths.indices.filter { place in
                columns[layout.widths[place].index].minimum
                    .map { $0 < layout.widths[place].width } ?? false
            }
            let widest = candidates.max { layout.widths[$0].width < layout.widths[$1].width }
            guard let widest else { return }
            layout.widths[widest].width -= 1
        }
    }
}
