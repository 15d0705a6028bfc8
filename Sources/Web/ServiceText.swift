internal import Quoting

/// Functions that clean and limit text of services and plugins.
///
/// A text may contain anything: a NUL, which D-Bus cannot transport; an escape sequence, which controls a terminal; an
/// override of the writing direction, which reorders adjacent text. Every function cuts the text before it reads it, so
/// the limit bounds its cost.
public enum ServiceText {
    /// The maximum length of a title, a description or a log line, in bytes of UTF-8.
    public static let maximumLength = 16 << 10
    /// The maximum length of an error message or a reason, in bytes of UTF-8.
    public static let maximumMessageLength = 1000

    /// Returns a text on one line, in which white space of any kind becomes one space.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The maximum length, in bytes of UTF-8.
    /// - Returns: The line without control characters; nil if nothing remains.
    public static func line(_ text: String?, atMost limit: Int = maximumLength) -> String? {
        guard let text else { return nil }
        if isPlain(text, besides: [], atMost: limit) { return text }
        let words = beginning(of: text, atMost: limit).split { $0.properties.isWhitespace }
        let line = words.reduce(into: String.UnicodeScalarView()) { line, word in
            if !line.isEmpty { line.append(" ") }
            line.append(contentsOf: word.lazy.filter(isPermitted))
        }
        return line.isEmpty ? nil : String(line)
    }

    /// Returns an error message, a reason or a log message: one line of at most ``maximumMessageLength`` bytes.
    ///
    /// - Parameter text: The text.
    /// - Returns: The message; nil if nothing remains.
    public static func message(_ text: String?) -> String? {
        line(text, atMost: maximumMessageLength)
    }

    /// Returns an error text of a service in parentheses, for the end of a sentence: ` (text)`, without a full stop.
    ///
    /// - Parameter text: The text.
    /// - Returns: The beginning of the text after a space; empty without a text, for a text of more than 200 bytes, and
    ///   for one with an address, which may contain a secret.
    public static func parenthesized(_ text: String?) -> String {
        guard let line = line(text), line.utf8.count <= 200, !line.contains("://") else {
            return ""
        }
        return " (\((line.hasSuffix(".") ? line.dropLast() : line[...]).excerpt))"
    }

    /// Returns a text with its lines and tabs.
    ///
    /// - Parameter text: The text.
    /// - Returns: The paragraphs without control characters and surrounding white space, of at most ``maximumLength``
    ///   bytes; nil if nothing remains.
    public static func paragraphs(_ text: String?) -> String? {
        guard let text else { return nil }
        let limit = maximumLength
        if isPlain(text, besides: [UInt8(ascii: "\t"), UInt8(ascii: "\n")], atMost: limit) {
            return text
        }
        var paragraphs = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in beginning(of: text, atMost: limit) {
            defer { previous = scalar }
            switch scalar {
            case "\n" where previous == "\r": continue
            case "\r", "\n", "\u{2028}", "\u{2029}", "\u{85}": paragraphs.append("\n")
            case "\t": paragraphs.append(scalar)
            default: if isPermitted(scalar) { paragraphs.append(scalar) }
            }
        }
        let isSpace = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        guard let start = paragraphs.firstIndex(where: { !isSpace($0) }),
            let end = paragraphs.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return String(String.UnicodeScalarView(paragraphs[start...end]))
    }

    /// Returns a text with a space in place of each line break, control character and directional override.
    ///
    /// - Parameter text: The text.
    /// - Returns: The text, of at most ``maximumLength`` bytes.
    public static func withoutControls(_ text: String) -> String {
        let beginning = beginning(of: text, atMost: maximumLength)
        guard !beginning.allSatisfy(isPermitted) else { return String(beginning) }
        return String(String.UnicodeScalarView(beginning.map { isPermitted($0) ? $0 : " " }))
    }

    /// Returns the beginning of a text, cut between Unicode scalars. Takes constant time.
    private static func beginning(
        of text: String, atMost limit: Int
    ) -> Substring.UnicodeScalarView {
        guard text.utf8.count > limit else { return text.unicodeScalars[...] }
        // An index within a scalar is rounded down to its start.
        return text.unicodeScalars[..<text.utf8.index(text.startIndex, offsetBy: limit)]
    }

    /// Returns true if a text needs no change, which is the most frequent case: it has visible characters, and single
    /// spaces between them.
    private static func isPlain(
        _ text: String, besides others: [UInt8], atMost limit: Int
    ) -> Bool {
        let blank = UInt8(ascii: " ")
        guard 1...limit ~= text.utf8.count, let last = text.utf8.last, last > blank else {
            return false
        }
        var wasBlank = true
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x21...0x7e: wasBlank = false
            case 0x80...:
                guard isPermitted(scalar), !scalar.properties.isWhitespace else { return false }
                wasBlank = false
            default:
                let byte = UInt8(scalar.value)
                guard !wasBlank, byte == blank || others.contains(byte) else { return false }
                wasBlank = true
            }
        }
        return true
    }

    /// Returns true for a scalar that is no control character and no directional override.
    package static func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without white space around it.
    package var trimmed: Substring {
        var text = self[...].drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

/// Range checks for numbers from a service.
package enum ServiceNumber {
    /// Returns a width or height in pixels; nil for one that is not possible.
    package static func size(_ value: Int?) -> Int? {
        value.flatMap { 1...Int(Int32.max) ~= $0 ? $0 : nil }
    }

    /// Returns a number of photos or likes; nil for one that D-Bus cannot transport as an unsigned 32-bit integer.
    package static func count(_ value: Int?) -> Int? {
        value.flatMap { 0...Int(UInt32.max) ~= $0 ? $0 : nil }
    }
}
