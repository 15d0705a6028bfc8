internal import JSONFormat

/// The URL of a web page.
struct Link: Renderable {
    let address: String

    /// Creates a link from text of a service, which is not trusted.
    ///
    /// - Parameter text: The URL. The result is nil unless the scheme is `http` or `https`, because a desktop opens
    ///   other schemes with other programs. It is also nil if the text contains spaces, line breaks or control
    ///   characters.
    init?(_ text: String) {
        let lowercased = text.lowercased()
        guard lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://"),
            text.unicodeScalars.allSatisfy({ !TerminalText.isUnwanted($0) && $0 != " " })
        else { return nil }
        address = text
    }

    var json: JSON { .object([.init("url", .string(address))]) }
    func text(for target: OutputTarget) -> String { address + "\n" }
}
