public import Translation

/// In tests, a text in English is a message.
extension Message: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(verbatim: text) }
}

extension Message {
    package func hasPrefix(_ text: String) -> Bool { english.hasPrefix(text) }

    package func hasSuffix(_ text: String) -> Bool { english.hasSuffix(text) }

    package func contains(_ text: String) -> Bool { english.contains(text) }
}
