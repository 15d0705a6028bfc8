import Quoting
import Testing

@Suite struct ExcerptTests {
    @Test func `text of 100 characters is not shortened`() {
        let text = String(repeating: "ä", count: 100)
        #expect(text.excerpt == text)
        #expect("a".quoted == "\"a\"")
        #expect("".quoted == "\"\"")
    }

    @Test func `longer text ends with an ellipsis`() {
        let excerpt = String(repeating: "x", count: 101).excerpt
        #expect(excerpt == String(repeating: "x", count: 99) + "…")
        #expect(String(repeating: "x", count: 3000).excerpt == excerpt)
    }

    @Test func `the limit counts scalars, not characters`() {
        let text = "a" + String(repeating: "\u{301}", count: 3000)
        #expect(text.excerpt.unicodeScalars.count == 100)
    }

    @Test(arguments: ["\n", "\u{1b}", "\0", "\u{202e}", "\u{2028}", "\u{e000}"])
    func `control and formatting characters are replaced`(text: String) {
        #expect("a\(text)b".excerpt == "a\u{FFFD}b")
    }
}
