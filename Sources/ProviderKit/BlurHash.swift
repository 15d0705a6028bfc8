/// A BlurHash: the text form of a blurred preview of an image.
///
/// Source: github.com/woltapp/blurhash, Algorithm.md.
public enum BlurHash {
    /// Returns true if a text is a BlurHash: 6 to 166 digits of base 83.
    public static func isValid(_ text: String) -> Bool {
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
