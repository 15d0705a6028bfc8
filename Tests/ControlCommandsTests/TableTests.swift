import ProviderKit
import Testing

@testable import ControlCommands

struct TableTests {
    private static let wide = OutputTarget.terminal(columns: 80, isColoured: false)
    private static let narrow = OutputTarget.terminal(columns: 40, isColoured: false)

    private func table(_ rows: [[String]]) -> Table<[String]> {
        Table(
            rows,
            columns: [
                .init(title: "ID") { Cell($0[0]) },
                .init(title: "N", dropRank: 1, isNumber: true) { Cell($0[1]) },
                .init(title: "TITLE", minimumWidth: 8, dropRank: 2) { Cell($0[2]) },
                .init(title: "NOTE", minimumWidth: 8, dropRank: 3) { Cell($0[3]) },
            ])
    }

    @Test func `columns are aligned in every script`() {
        let text = table([["a", "1", "日本の山", "x"], ["bcd", "200", "😀 é", "y"]]).text(for: Self.wide)
        #expect(
            text == """
                ID     N  TITLE     NOTE
                a      1  日本の山  x
                bcd  200  😀 é      y

                """)
    }

    @Test(arguments: [20, 40, 60, 80, 100])
    func `a table fits the terminal`(columns: Int) {
        let long = String(repeating: "山の景色 ", count: 20)
        let text = table([["local_ada/0123", "42", long, long]])
            .text(for: .terminal(columns: columns, isColoured: false))
        #expect(text.split(separator: "\n").allSatisfy { $0.displayWidth <= columns })
        #expect(text.contains("local_ada/0123"))
    }

    @Test func `one very long identifier lengthens only its own line`() {
        let long = String(repeating: "x", count: 200)
        let text = table([["a", "1", "t", "n"], [long, "2", "u", "o"]]).text(for: Self.wide)
        #expect(
            text == """
                ID  N  TITLE  NOTE
                a   1  t      n
                \(long)  2  u      o

                """)
    }

    @Test(arguments: [
        // An empty column is not shown.
        (wide, [["a", "", "t", ""]], "ID  TITLE\na   t\n"),
        // No line ends in spaces.
        (
            wide, [["a", "", "t", ""], ["b", "1", "", "n"], ["c", "", "", ""]],
            "ID  N  TITLE  NOTE\na      t\nb   1         n\nc\n"
        ),
        // Columns are dropped instead of truncating an identifier.
        (
            narrow, [["an-identifier-of-40-columns-or-so-it-is", "1", "title", "note"]],
            "ID\nan-identifier-of-40-columns-or-so-it-is\n"
        ),
        // A pipe contains all fields, separated by tabs, without a heading.
        (.pipe, [["a", "1", "日本", ""]], "a\t1\t日本\t\n"), (wide, [], ""), (.pipe, [], ""),
    ])
    func `a table has only what it needs`(target: OutputTarget, rows: [[String]], text: String) {
        #expect(table(rows).text(for: target) == text)
    }

    @Test(arguments: [OutputTarget.pipe, .terminal(columns: 80, isColoured: true)])
    func `control characters of a field are removed`(target: OutputTarget) {
        let unsafeText = "a\u{1B}]0;x\u{7}b\u{9B}31mc\nd\te\u{202E}f\u{85}g\u{7F}"
        let text = table([["id", "1", unsafeText, ""]]).text(for: target)
        let fields = text.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(
            fields.unicodeScalars.allSatisfy {
                ServiceText.isPermitted($0) || $0 == "\n" || (target == .pipe && $0 == "\t")
            })
        #expect(text.contains("a]0;xb31mc d ef g"))
        #expect(text.split(separator: "\n").count == (target == .pipe ? 1 : 2))
    }

    @Test func `colours do not change the alignment`() {
        let plain = table([["a", "1", "t", "n"]])
        let coloured = plain.text(for: .terminal(columns: 80, isColoured: true))
        let stripped = coloured.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "")
        #expect(coloured != stripped)
        #expect(stripped == plain.text(for: Self.wide))
    }
}
