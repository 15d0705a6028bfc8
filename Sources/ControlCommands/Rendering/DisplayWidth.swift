/// How many columns of a terminal text takes.
///
/// Source: Unicode Standard Annex #11, and what terminals make of emoji (UTS #51).
extension StringProtocol {
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// The beginning of the text that fits into `columns`, ended by `…` when something is missing.
    func truncated(to columns: Int) -> String {
        guard displayWidth > columns else { return String(self) }
        guard columns > 0 else { return "" }
        var beginning = ""
        var width = 0
        for character in self {
            width += character.displayWidth
            guard width < columns else { break }
            beginning.append(character)
        }
        return beginning + "…"
    }

    /// The words of the text, laid out on lines of at most `columns`.
    ///
    /// Where words are not separated, lines end anywhere. A longer word of ASCII has a line of its own: an
    /// address in two pieces cannot be followed.
    func wrapped(to columns: Int) -> [String] {
        var lines: [String] = []
        var width = 0
        for word in split(separator: " ").flatMap({ $0.broken(to: columns) }) {
            let wordWidth = word.displayWidth
            if let last = lines.indices.last, width + 1 + wordWidth <= columns {
                lines[last] += " " + word
                width += 1 + wordWidth
            } else {
                lines.append(String(word))
                width = wordWidth
            }
        }
        return lines
    }

    /// The word in pieces that fit.
    private func broken(to columns: Int) -> [String] {
        guard displayWidth > columns, !utf8.allSatisfy({ $0 < 0x80 }) else { return [String(self)] }
        var pieces = [""]
        var width = 0
        for character in self {
            if width + character.displayWidth > columns, width > 0 {
                pieces.append("")
                width = 0
            }
            pieces[pieces.count - 1].append(character)
            width += character.displayWidth
        }
        return pieces
    }
}

extension Character {
    /// 0 for a lone combining mark, 2 for East Asian and emoji, else 1; more for clusters of letters.
    var displayWidth: Int {
        let scalars = unicodeScalars
        if let first = scalars.first, first.properties.isEmoji,
            first.properties.isEmojiPresentation || scalars.contains("\u{FE0F}")
        {
            return 2
        }
        return scalars.reduce(0) { $0 + $1.displayWidth }
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        // ASCII first: it is nearly everything.
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // The vowels and finals of a Hangul syllable stand inside the block of its first consonant.
        if 0x1160...0x11FF ~= value { return 0 }
        return Self.wide.contains { $0 ~= value } ? 2 : 1
    }

    /// Blocks whose East Asian Width is W or F, emoji aside.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265,
        0x20000...0x3FFFD,
    ]
}
