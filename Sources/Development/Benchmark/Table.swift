/// The results in a table of 80 columns.
struct Table {
    struct Row {
        let name: String
        let value: String
        let ratio: String
        let processor: String

        init(_ name: String, _ value: String, ratio: String = "", processor: String = "") {
            self.name = name
            self.value = value
            self.ratio = ratio
            self.processor = processor
        }
    }

    var head = Row("Measured", "Value", ratio: "Ratio to Ping", processor: "Daemon CPU")
    let rows: [Row]

    var text: String {
        let rule = String(repeating: "-", count: 80)
        return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
    }

    private func line(_ row: Row) -> String {
        let name = row.name + spaces(38 - row.name.count)
        let line = name + right(row.value, 14) + right(row.ratio, 14) + right(row.processor, 14)
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    private func right(_ text: String, _ width: Int) -> String {
        spaces(width - text.count) + text
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
