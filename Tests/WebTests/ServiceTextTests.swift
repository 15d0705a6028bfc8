import Testing
import Web

struct ServiceTextTests {
    @Test func `removing control characters keeps all other characters`() {
        #expect(ServiceText.withoutControls("Ä plain  text") == "Ä plain  text")
        #expect(
            ServiceText.withoutControls("a\u{1b}[31mb\nc\u{9b}d\u{202e}e\u{2028}f\u{7f}")
                == "a [31mb c d e f ")
    }

    @Test(arguments: [
        ("plain <b>&amp;", "plain <b>&amp;", "plain <b>&amp;"),
        (" a\r\n\tb ", "a b", "a\n\tb"), ("a\u{0}b\u{1B}[31mc\u{9B}", "ab[31mc", "ab[31mc"),
        ("a\u{202E}b\u{2066}c", "abc", "abc"), ("a\u{2028}b\u{85}c", "a b c", "a\nb\nc"),
        ("👩‍👩‍👧 ü", "👩‍👩‍👧 ü", "👩‍👩‍👧 ü"), ("a\r\r\nb", "a b", "a\n\nb"), (" \n", nil, nil), ("", nil, nil),
        ("\u{0}", nil, nil), (nil, nil, nil), ("ü\u{a0} ü", "ü ü", "ü\u{a0} ü"),
        ("ü\u{7f}ü\u{9b}", "üü", "üü"), ("ü  ü", "ü ü", "ü  ü"), ("ü\u{a0}", "ü", "ü"),
    ])
    func `cleaning removes control characters and keeps words`(
        text: String?, line: String?, paragraphs: String?
    ) {
        #expect(ServiceText.line(text) == line)
        #expect(ServiceText.paragraphs(text) == paragraphs)
    }

    /// The cost is bounded by the limit: the functions cut a text before they read it.
    @Test func `a text is cut before it is read`() {
        let long = String(repeating: "\u{1b}", count: 7 << 20)
        #expect(ServiceText.line("a" + long + "b") == "a")
        #expect(ServiceText.paragraphs("a" + long + "b") == "a")
        #expect(ServiceText.message("a" + long + "b") == "a")
        #expect(ServiceText.withoutControls("a" + long).utf8.count == ServiceText.maximumLength)
        #expect(ServiceText.line(String(repeating: " ", count: 7 << 20) + "b") == nil)
    }

    @Test func `a message is one line of 1000 bytes`() {
        let text = "\u{1b}[31mNo\u{202e}\nmore " + String(repeating: "€", count: 1000)
        let message = ServiceText.message(text)
        #expect(message?.hasPrefix("[31mNo more €") == true)
        #expect(980...1000 ~= message?.utf8.count ?? 0)
    }

    @Test(arguments: [
        ("Not\nallowed.", " (Not allowed)"), ("No\u{202e}", " (No)"), (nil, ""), (" \u{7} ", ""),
        ("see https://a.example/?token=b", ""), (String(repeating: "a", count: 201), ""),
    ])
    func `an error text is quoted in parentheses unless it is long or has an address`(
        text: String?, quotation: String
    ) {
        #expect(ServiceText.parenthesized(text) == quotation)
    }

    @Test(arguments: ["a", "ü", "€", "😀"])
    func `a long text is cut between characters`(character: String) throws {
        for pad in ["", "a", "aa", "aaa"] {
            let text = pad + String(repeating: character, count: 20_000)
            for cut in [ServiceText.line(text), ServiceText.paragraphs(text)] {
                let cut = try #require(cut)
                #expect(text.hasPrefix(cut))
                #expect(16381...16384 ~= cut.utf8.count)
            }
        }
    }
}
