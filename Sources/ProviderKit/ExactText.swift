/// A text that somebody else has made up: another only if it is the same to the byte.
///
/// Swift's own strings count as equal however their letters are composed; folders and services tell `é` from
/// `e` with an accent after it.
public protocol ExactText: Hashable, Sendable, CustomStringConvertible {
    var text: String { get }
}

extension ExactText {
    public static func == (left: Self, right: Self) -> Bool {
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    public var description: String { text }
}
