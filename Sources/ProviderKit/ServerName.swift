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

/// The servers on this computer that have names, for development and tests.
///
/// Only the configuration can define such a server. Its address must be on loopback.
package struct LoopbackServers: Hashable, Sendable {
    private var addresses: [String: WebAddress] = [:]

    /// The rule for the value of the configuration key. It follows the name of the key in a message.
    package static let rule =
        "must be a list of servers on this computer, such as photos.test=http://127.0.0.1:3000."

    /// Parses `name=http://127.0.0.1:3000;…`; nil if the text violates the ``rule``.
    package init?(_ text: String) {
        for entry in text.split(separator: ";") {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let name = try? ServerName(String(parts[0])),
                let address = WebAddress(String(parts[1])), address.isLoopback,
                address.rest.isEmpty
            else { return nil }
            addresses[name.text] = address
        }
    }

    /// The address of a server; nil if the name is not defined.
    package subscript(name: String) -> WebAddress? { addresses[name] }

    /// Returns the name of the server with an origin; nil if there is none.
    package func name(of origin: String) -> String? {
        addresses.first { $0.value.origin == origin }?.key
    }
}
