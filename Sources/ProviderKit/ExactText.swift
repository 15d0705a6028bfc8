/// A text that is compared byte by byte.
///
/// Strings in Swift are equal if they are canonically equivalent. Folders and services distinguish the composed and the
/// decomposed form of `é`.
public protocol ExactText: Hashable, Sendable, CustomStringConvertible {
    /// The text in UTF-8.
    var text: String { get }
}

extension ExactText {
    /// Returns true if both texts have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Adds the text to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The text.
    public var description: String { text }
}
