internal import Quoting

/// The name of a server: a host name in lower case without a port. An internationalized name is in its ASCII form.
public struct ServerName: Hashable, Sendable {
    /// The host name in ASCII.
    public let text: String
    /// The user of the handle from which the name was parsed; nil if the text was not a handle.
    public let user: String?

    /// The maximum length of a DNS name in bytes.
    private static let maximumLength = 253
    /// The maximum length of a user name in bytes.
    private static let maximumUserLength = 256

    /// Parses the text that a user entered: `photos.example`, the address of a page there, or a handle such as
    /// `@ada@photos.example`.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` with a message for the user.
    public init(_ text: String) throws(ProviderError) {
        guard text.utf8.count <= WebAddress.maximumLength, let shown = ServiceText.line(text) else {
            throw .invalidArgument(
                "The name of the server is missing; pass one, such as photos.example.")
        }
        var name = Substring(shown)
        var user: String?
        if let scheme = name.firstRange(of: "://") {
            guard name[..<scheme.lowerBound].lowercased() == "https" else {
                throw .invalidArgument(
                    "Servers are contacted over https:// only, not by \(shown.withoutUserInformation.quoted)."
                )
            }
            name = name[scheme.upperBound...].prefix { !"/?#".contains($0) }
            if let at = name.lastIndex(of: "@") { name = name[name.index(after: at)...] }
        } else if let at = name.lastIndex(of: "@") {
            user = Self.user(name[..<at])
            name = name[name.index(after: at)...]
        }
        while name.last == "/" || name.last == "." { name.removeLast() }
        guard let host = InternationalName.ascii(name).flatMap(Self.host) else {
            throw .invalidArgument(
                "\(shown.withoutUserInformation.quoted) is not the name of a server, such as photos.example."
            )
        }
        self.text = host
        self.user = user
    }

    /// Returns the user of a handle; nil if the text is not a valid user name.
    private static func user(_ text: Substring) -> String? {
        let name = text.hasPrefix("@") ? text.dropFirst() : text
        guard 1...maximumUserLength ~= name.utf8.count, !name.contains("@") else { return nil }
        return String(name)
    }

    /// Returns the name if it is a DNS name and not an IP address.
    ///
    /// Source: RFC 1123 §2.1; WHATWG URL §3.5 for names that are parsed as an IPv4 address.
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
