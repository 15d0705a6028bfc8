/// Excerpts of a caller's text for messages.
extension StringProtocol {
    /// The beginning of the text on one line: at most 100 characters, the last of which is an ellipsis if the text is
    /// longer. Control and formatting characters are replaced.
    package var excerpt: String {
        let limit = 100
        var result = String.UnicodeScalarView()
        // Scalars are counted, because a grapheme cluster may contain any number of them.
        for scalar in unicodeScalars.prefix(limit + 1) {
            result.append(Self.isPrintable(scalar) ? scalar : "\u{FFFD}")
        }
        guard result.count > limit else { return String(result) }
        result.removeLast(2)
        result.append("…")
        return String(result)
    }

    /// ``excerpt`` in quotation marks.
    package var quoted: String { "\"\(excerpt)\"" }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}

extension StringProtocol {
    /// The text as a sentence: with a full stop unless it is empty or ends in a punctuation mark.
    package var sentence: String {
        guard let last, !".!?…。！？".contains(last) else { return String(self) }
        return "\(self)."
    }
}
