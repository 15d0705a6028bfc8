/// Measurement and layout of text in terminal columns.
///
/// Source: Unicode Standard Annex #11 (East Asian Width), Unicode Technical Standard #51 (emoji).
extension StringProtocol {
    /// The number of terminal columns that the text occupies.
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// Returns the prefix of the text that fits into `columns`. Truncated text ends in `…`.
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

    /// Wraps the text into lines of at most `columns`.
    ///
    /// A word that is too long is broken if it contains other characters than ASCII, as in scripts that do not separate
    /// words. A long ASCII word is a separate, longer line, because a broken URL cannot be opened.
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

    /// Breaks a word into pieces that fit into `columns`.
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
    /// The number of columns: 0 for an isolated combining mark, 2 for East Asian characters and emoji, otherwise the
    /// sum over the scalars.
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
        // Most text is ASCII.
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // The vowels and final consonants of a Hangul syllable are drawn inside the cell of its first consonant.
        if 0x1160...0x11FF ~= value { return 0 }
        return Self.wide.contains { $0 ~= value } ? 2 : 1
    }

    /// The blocks with the East Asian Width W or F, without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265,
        0x20000...0x3FFFD,
    ]
}
