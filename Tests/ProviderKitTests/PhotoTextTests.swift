import ProviderKit
import Testing

/// The checks of the texts of a photo.
struct PhotoTextTests {
    @Test(arguments: [
        // The examples of github.com/woltapp/blurhash, and the shortest and the longest one.
        "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.", "00OZZy",
        "|" + String(repeating: "~", count: 165),
    ])
    func `a text of the length that its first digit states is a BlurHash`(text: String) {
        #expect(BlurHash.isValid(text))
    }

    @Test(arguments: [
        "", "0", "00OZZ", "00OZZyy", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjk",
        "00OZ!y", "00OZ\"y", "00OZ/y", "00ZZ\u{fc}", "}" + String(repeating: "0", count: 167),
        "~" + String(repeating: "0", count: 169),
    ])
    func `a text of another length or with other characters is no BlurHash`(text: String) {
        #expect(!BlurHash.isValid(text))
    }

    @Test(arguments: [
        ("#0a1B2c", true), ("#FFFFFF", true), ("#fff", false), ("0a1B2c7", false),
        ("#0a1B2g", false),
        ("#0a1B2c7", false), ("##a1B2c", false), ("", false), ("#ü1B2c", false), ("red", false),
    ])
    func `a color is a number sign and six hexadecimal digits`(text: String, isColor: Bool) {
        #expect(HexColor.isValid(text) == isColor)
    }
}
