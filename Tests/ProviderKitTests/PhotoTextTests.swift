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
        #expect(Photo.isBlurHash(text))
    }

    @Test(arguments: [
        "", "0", "00OZZ", "00OZZyy", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjk",
        "00OZ!y", "00OZ\"y", "00OZ/y", "00ZZ\u{fc}", "}" + String(repeating: "0", count: 167),
        "~" + String(repeating: "0", count: 169),
    ])
    func `a text of another length or with other characters is no BlurHash`(text: String) {
        #expect(!Photo.isBlurHash(text))
    }

    @Test func `a long or multi-line text has a title of one line and is whole in the text`() {
        var photo = Photo(id: PhotoID("p"))
        photo.setText("Fog in the Alps")
        #expect(photo.title == "Fog in the Alps" && photo.text == nil)
        photo.setText("Fog\n\nin the Alps ")
        #expect(photo.title == "Fog in the Alps" && photo.text == "Fog\n\nin the Alps")
        let long = String(repeating: "wörd ", count: 2000)
        photo.setText(long)
        #expect(photo.title?.hasSuffix("wörd…") == true && photo.title?.count ?? 0 <= 200)
        #expect(photo.title?.contains("\n") == false)
        #expect(photo.text?.count == 5000)
        // A text of 200 characters with more bytes is a title.
        let title = String(repeating: "é", count: 200)
        photo.setText(title)
        #expect(photo.title == title && photo.text == nil)
        photo.setText(String(repeating: "é", count: 201))
        #expect(photo.title?.count == 200 && photo.text?.count == 201)
        photo.setText(" \u{7} ")
        #expect(photo.title == nil && photo.text == nil)
    }

    @Test(arguments: [
        ("#0a1B2c", true), ("#FFFFFF", true), ("#fff", false), ("0a1B2c7", false),
        ("#0a1B2g", false),
        ("#0a1B2c7", false), ("##a1B2c", false), ("", false), ("#ü1B2c", false), ("red", false),
    ])
    func `a color is a number sign and six hexadecimal digits`(text: String, isColor: Bool) {
        #expect(Photo.isColor(text) == isColor)
    }
}
