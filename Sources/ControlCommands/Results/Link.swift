/// The address of a page on the web.
struct Link: Renderable {
    let address: String

    /// - Parameter text: Comes from a service: nil unless it is an address of the web, and nothing that a
    ///   desktop would open with another program, or that a shell would take for two lines.
    init?(_ text: String) {
        let lowercased = text.lowercased()
        guard lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://"),
            text.unicodeScalars.allSatisfy({ !TerminalText.isUnwanted($0) && $0 != " " })
        else { return nil }
        address = text
    }

    var json: JSON { .object([.init("url", .string(address))]) }
    func text(for medium: OutputTarget) -> String { address + "\n" }
}
