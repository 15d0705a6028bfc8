/// Text that a service sent, made harmless for whoever shows it.
///
/// A title may hold anything: a NUL, which D-Bus does not carry, an escape sequence, which drives a
/// terminal, a change of direction, which reorders what a widget writes beside it.
package enum ServiceText {
    /// How long a text may become, in bytes of UTF-8.
    package static let maximumLength = 16 << 10

    /// Text of one line: white space of any kind becomes one space. nil if nothing is left.
    package static func line(_ text: String?) -> String? {
        guard let text else { return nil }
        if isPlain(text, besides: []) { return text }
        let words = text.unicodeScalars.split { $0.properties.isWhitespace }
        let line = words.reduce(into: String.UnicodeScalarView()) { line, word in
            if !line.isEmpty { line.append(" ") }
            line.append(contentsOf: word.lazy.filter(isHarmless))
        }
        return bounded(line)
    }

    /// Text whose lines and tabs stay. nil if nothing is left.
    package static func paragraphs(_ text: String?) -> String? {
        guard let text else { return nil }
        if isPlain(text, besides: [UInt8(ascii: "\t"), UInt8(ascii: "\n")]) { return text }
        var paragraphs = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { previous = scalar }
            switch scalar {
            case "\n" where previous == "\r": continue
            case "\r", "\n", "\u{2028}", "\u{2029}", "\u{85}": paragraphs.append("\n")
            case "\t": paragraphs.append(scalar)
            default: if isHarmless(scalar) { paragraphs.append(scalar) }
            }
        }
        let isSpace = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let start = paragraphs.firstIndex { !isSpace($0) } ?? paragraphs.endIndex
        let end = paragraphs.lastIndex { !isSpace($0) }.map(paragraphs.index(after:))
        return bounded(String.UnicodeScalarView(paragraphs[start..<(end ?? paragraphs.endIndex)]))
    }

    /// The text with a blank in the place of each line break, control character and change of direction.
    package static func withoutControls(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isHarmless) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : " " }))
    }

    /// Whether nothing is to be done, as with most texts: what can be seen, and single blanks in between.
    private static func isPlain(_ text: String, besides others: [UInt8]) -> Bool {
        let blank = UInt8(ascii: " ")
        guard 1...maximumLength ~= text.utf8.count, let last = text.utf8.last, last > blank else {
            return false
        }
        var wasBlank = true
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x21...0x7e: wasBlank = false
            case 0x80...:
                guard isHarmless(scalar), !scalar.properties.isWhitespace else { return false }
                wasBlank = false
            default:
                let byte = UInt8(scalar.value)
                guard !wasBlank, byte == blank || others.contains(byte) else { return false }
                wasBlank = true
            }
        }
        return true
    }

    /// Whether a scalar is no control and does not change the direction of writing.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    private static func bounded(_ scalars: String.UnicodeScalarView) -> String? {
        var length = 0
        let end = scalars.firstIndex { scalar in
            length += UTF8.width(scalar)
            return length > maximumLength
        }
        guard let end else { return scalars.isEmpty ? nil : String(scalars) }
        return String(scalars[..<end])
    }
}
