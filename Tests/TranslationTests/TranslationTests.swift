import Testing

@testable import Translation

@Suite struct TranslationTests {
    @Test func `a text has the values in place of their names`() {
        #expect(tr("{a} and {b}", ["b": "{a}", "a": "x"]) == "x and {a}")
        #expect(tr("{missing} stays, as does {", ["a": "x"]) == "{missing} stays, as does {")
        #expect(trn("{count} photo", "{count} photos", 1) == "1 photo")
        #expect(
            trn("{count} photo of {name}", "{count} photos of {name}", 2, ["name": "a"])
                == "2 photos of a")
    }
}
