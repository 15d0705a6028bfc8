import Quoting
import Testing

@Suite struct SentenceTests {
    @Test(arguments: [
        ("", ""), ("a", "a."), ("a.", "a."), ("a!", "a!"), ("a?", "a?"), ("a…", "a…"),
        ("a)", "a)."), ("字。", "字。"), ("字！", "字！"), ("字？", "字？"),
    ])
    func `a sentence ends in one punctuation mark`(text: String, sentence: String) {
        #expect(text.sentence == sentence)
    }

    @Test func `the bytes of a C string do not include the terminating NUL`() {
        #expect([UInt8](cString: "ä") == [0xc3, 0xa4])
        #expect([UInt8](cString: "") == [])
    }
}
