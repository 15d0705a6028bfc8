/// A BlurHash: the text form of a blurred preview of an image.
///
/// Source: github.com/woltapp/blurhash, Algorithm.md.
public enum BlurHash {
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Returns true if a text is a BlurHash: 6 to 166 digits of base 83, of which the first determines the length.
    public static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first, let size = digits.firstIndex(of: first), size < 81 else {
            return false
        }
        let components = (size % 9 + 1) * (size / 9 + 1)
        return text.utf8.count == 4 + 2 * components && text.utf8.allSatisfy(digits.contains)
    }
}
