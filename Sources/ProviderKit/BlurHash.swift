/// The little text that stands for a blurred image until the image is there.
///
/// Source: github.com/woltapp/blurhash, Algorithm.md.
package enum BlurHash {
    /// Whether a text can be one: 6 to 166 digits of base 83.
    package static func isValid(_ text: String) -> Bool {
        6...166 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "#$%*+,-.:;=?@[]^_{|}~".utf8.contains(byte)
                }
            }
    }
}
