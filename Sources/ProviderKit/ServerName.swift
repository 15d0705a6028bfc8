internal import Quoting

/// The name of a server that somebody has named: a host name in lower case, without a port.
package struct ServerName: Hashable, Sendable {
    package let text: String

    /// The longest name that DNS has, in bytes.
    private static let maximumLength = 253

    /// Reads what somebody wrote: `photos.example`, the address of a page there, or a handle like
    /// `@ada@photos.example`.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    package init(_ text: String) throws(ProviderError) {
        guard text.utf8.count <= WebAddress.maximumLength, let shown = ServiceText.line(text) else {
            throw .invalidArgument("The name of the server is missing, such as photos.example.")
        }
        var name = Substring(shown)
        if let scheme = name.firstRange(of: "://") {
            guard name[..<scheme.lowerBound].lowercased() == "https" else {
                throw .invalidArgument(
                    "Servers are asked over https:// alone, not by \(shown.withoutUserInformation.quoted)."
                )
            }
            name = name[scheme.upperBound...].prefix { !"/?#".contains($0) }
        }
        if let at = name.lastIndex(of: "@") { name = name[name.index(after: at)...] }
        while name.last == "/" || name.last == "." { name.removeLast() }
        guard let host = Self.host(name.lowercased()) else {
            throw .invalidArgument(
                "\(shown.withoutUserInformation.quoted) is not the name of a server, such as photos.example."
            )
        }
        self.text = host
    }

    /// The name, if it is one that only DNS can resolve.
    ///
    /// Source: RFC 1123 §2.1; WHATWG URL §3.5 for what would be taken for an IPv4 address.
    private static func host(_ name: String) -> String? {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= maximumLength, labels.count >= 2,
            labels.allSatisfy({ label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy {
                        0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-")
                    }
            }),
            let last = labels.last, !last.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            !last.hasPrefix("0x")
        else { return nil }
        return name
    }
}
