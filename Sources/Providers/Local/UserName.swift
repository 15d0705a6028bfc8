internal import CGLib

/// The name of a local user: 1 to 64 printable characters, kept as they were given.
struct UserName: Sendable {
    let text: String
    /// The same for all names that count as one: that differ in case alone, or in how they are composed.
    let key: String

    /// As much as 64 characters made of many code points each take.
    private static let limitBytes = 4096

    /// - Returns: nil for what is no name.
    init?(_ text: String) {
        let scalars = text.unicodeScalars
        guard 1...64 ~= text.count, text.utf8.count <= Self.limitBytes,
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
        // Joiners and tags make emoji; the others reorder what stands around them.
        case .format:
            scalar == "\u{200c}" || scalar == "\u{200d}" || ("\u{e0020}"..."\u{e007f}") ~= scalar
        default: true
        }
    }
}
