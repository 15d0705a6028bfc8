internal import CGLib

/// The name of a local user: 1 to 64 printable characters. Its spelling is preserved.
struct UserName: Sendable {
    let text: String
    /// The form for comparisons. It is equal for names that differ only in case or in Unicode normalization.
    let key: String

    /// The maximum length in bytes, which allows for 64 characters of many code points each.
    private static let maximumBytes = 4096

    /// - Returns: nil for an invalid name.
    init?(_ text: String) {
        let scalars = text.unicodeScalars
        guard 1...64 ~= text.count, text.utf8.count <= Self.maximumBytes,
            scalars.first?.properties.isWhitespace == false,
            scalars.last?.properties.isWhitespace == false, scalars.allSatisfy(Self.isPrintable)
        else { return nil }
        self.text = text
        key = Self.composed(Self.caseless(Self.composed(text)))
    }

    private static func composed(_ text: String) -> String {
        converted(text) { g_utf8_normalize($0, -1, G_NORMALIZE_DEFAULT_COMPOSE) }
    }

    private static func caseless(_ text: String) -> String {
        converted(text) { g_utf8_casefold($0, -1) }
    }

    private static func converted(
        _ text: String, _ convert: (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        guard let converted = text.withCString(convert) else { return text }
        defer { g_free(converted) }
        return String(cString: converted)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
        // Joiners and tags are parts of emoji. Other format characters change the order of the text around them.
        case .format:
            scalar == "\u{200c}" || scalar == "\u{200d}" || ("\u{e0020}"..."\u{e007f}") ~= scalar
        default: true
        }
    }
}
