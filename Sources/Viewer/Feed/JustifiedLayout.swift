/// Photos in rows of equal width, in which each photo keeps its proportions.
///
/// Rows are appended as photos arrive, and earlier rows only change if they are removed. A row ends before the first photo of a section, above
/// which there is place for a heading.
nonisolated struct JustifiedLayout {
    nonisolated struct Row: Equatable {
        let photos: Range<Int>
        let top, height: Double
    }

    nonisolated struct Frame: Equatable {
        let x, y, width, height: Double
    }

    let width, targetHeight, spacing, headingHeight: Double
    private(set) var rows: [Row] = []
    private var ratios: [Double] = []
    /// The first photos of the sections.
    private var sections: Set<Int> = []
    /// The index of the first photo that is not in a row yet.
    private var firstOpen = 0

    /// The number of photos.
    var count: Int { ratios.count }

    /// The height of all rows.
    var height: Double { rows.last.map { $0.top + $0.height + spacing } ?? spacing }

    init(width: Double, targetHeight: Double, spacing: Double, headingHeight: Double = 0) {
        self.width = max(width, 1)
        self.targetHeight = targetHeight
        self.spacing = spacing
        self.headingHeight = headingHeight
    }

    /// Removes the row of a photo and all rows below.
    mutating func removeRows(from photo: Int) {
        let index = firstRow { $0.photos.upperBound > photo }
        guard index < rows.count else { return }
        firstOpen = rows[index].photos.lowerBound
        rows.removeSubrange(index...)
        ratios.removeSubrange(firstOpen...)
    }

    /// Adds photos.
    ///
    /// - Parameters:
    ///   - ratios: Width divided by height of each photo, positive.
    ///   - sections: The indexes of those that begin a section.
    mutating func append(_ ratios: [Double], sections: some Sequence<Int> = []) {
        // The incomplete row at the end is laid out again.
        if let last = rows.last, last.photos.upperBound > firstOpen { rows.removeLast() }
        self.ratios += ratios
        self.sections.formUnion(sections)
        var row = firstOpen..<firstOpen
        while row.upperBound < self.ratios.count {
            if !row.isEmpty, isSection(row.upperBound) {
                addIncompleteRow(row)
                row = row.upperBound..<row.upperBound
            }
            let shorter = row
            row = row.lowerBound..<row.upperBound + 1
            let height = fullHeight(of: row)
            // A row is complete if it would become lower with one more photo than it should be.
            guard height <= targetHeight else { continue }
            // Without the last photo the row may be closer to the target.
            let isCloser = fullHeight(of: shorter) - targetHeight < targetHeight - height
            if !shorter.isEmpty, isCloser { row = shorter }
            addRow(row, fullHeight(of: row))
            row = row.upperBound..<row.upperBound
        }
        firstOpen = row.lowerBound
        if !row.isEmpty { addIncompleteRow(row) }
    }

    /// Adds a row that does not fill the width. It is not higher than the row above.
    private mutating func addIncompleteRow(_ photos: Range<Int>) {
        let above = isSection(photos.lowerBound) ? nil : rows.last?.height
        addRow(photos, min(targetHeight, above ?? targetHeight))
    }

    private mutating func addRow(_ photos: Range<Int>, _ height: Double) {
        let heading = isSection(photos.lowerBound) ? headingHeight : 0
        rows.append(Row(photos: photos, top: self.height + heading, height: height))
    }

    /// Returns true for a photo that begins a section.
    func isSection(_ photo: Int) -> Bool { sections.contains(photo) }

    /// Returns the ratio with which a photo was added.
    func ratio(of photo: Int) -> Double { ratios[photo] }

    /// Returns the height with which a row of photos fills the width.
    private func fullHeight(of photos: Range<Int>) -> Double {
        max(1, width - spacing * Double(photos.count + 1)) / ratios[photos].reduce(0, +)
    }

    /// Returns the frames of the photos of a row.
    func frames(of row: Row) -> [Frame] {
        var x = spacing
        return row.photos.map { index in
            let frame = Frame(
                x: x, y: row.top, width: ratios[index] * row.height, height: row.height)
            x += frame.width + spacing
            return frame
        }
    }

    /// Returns the rows that overlap the part from `top` to `bottom`.
    func rows(from top: Double, to bottom: Double) -> ArraySlice<Row> {
        let first = firstRow { $0.top + $0.height >= top }
        let end = firstRow { $0.top > bottom }
        return rows[first..<max(first, end)]
    }

    /// Returns the row of a photo; nil if there is none.
    func row(of photo: Int) -> Row? {
        rows[firstRow { $0.photos.upperBound > photo }...].first
    }

    /// Returns the photo of the next row that is below or above another one.
    func neighbor(of photo: Int, rowOffset: Int) -> Int? {
        let index = firstRow { $0.photos.upperBound > photo }
        guard index < rows.count, rows.indices.contains(index + rowOffset) else { return nil }
        let own = frames(of: rows[index])[photo - rows[index].photos.lowerBound]
        let center = own.x + own.width / 2
        let target = rows[index + rowOffset]
        let below = zip(target.photos, frames(of: target)).first { $1.x + $1.width >= center }
        return below?.0 ?? target.photos.last
    }

    /// Returns the index of the first row with a property that holds for all later rows.
    private func firstRow(_ holds: (Row) -> Bool) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if holds(rows[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
