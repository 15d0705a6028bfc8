/// The hosts that a request may be sent to, redirects included.
package struct AllowedHosts: Hashable, Sendable {
    /// The patterns of hosts that are requested over `https` only. Their addresses must be public.
    package let patterns: [Pattern]
    /// The origins (`https://host[:port]` or `http://host[:port]`) that the user named. They may be in any network.
    package let origins: Set<String>

    /// Creates a set of allowed hosts.
    package init(patterns: [Pattern], origins: Set<String> = []) {
        self.patterns = patterns
        self.origins = origins
    }

    /// Returns true if a request may be sent to an address.
    package func permits(_ address: WebAddress) -> Bool {
        if address.scheme == .https, patterns.contains(where: { $0.matches(address) }) {
            return true
        }
        return !origins.isEmpty && origins.contains(address.origin)
    }

    /// Returns true if a text is an address that a request may be sent to.
    package func permits(_ text: String) -> Bool { WebAddress(text).map(permits) ?? false }

    /// Returns the source of an address: `configuration` for an origin that the user named, `service` for any other,
    /// which must not lead into the user's network.
    package func source(of address: WebAddress) -> HTTPRequest.AddressSource {
        origins.contains(address.origin) ? .configuration : .service
    }

    /// Returns true if the user named the origin of an address.
    package func isNamed(_ text: String) -> Bool {
        WebAddress(text).map { origins.contains($0.origin) } ?? false
    }

    /// A pattern of hosts: `example.org`, `*.example.org` for a domain and its subdomains, `example.org:8443`, or `*`
    /// for every public host.
    package struct Pattern: Hashable, Sendable {
        /// The host in lower case; empty for every host.
        private let host: String
        private let includesSubdomains: Bool
        private let port: UInt16?

        /// Parses a pattern; nil if it is invalid.
        package init?(_ text: String) {
            if text == "*" {
                (host, includesSubdomains, port) = ("", true, nil)
                return
            }
            includesSubdomains = text.hasPrefix("*.")
            let name = includesSubdomains ? String(text.dropFirst(2)) : text
            guard let address = WebAddress("https://\(name)"), address.rest.isEmpty,
                address.host.contains("."), !address.host.hasSuffix(".")
            else { return nil }
            host = address.host
            port = address.port
        }

        /// The top-level domains besides those of local networks that are not part of the public internet.
        private static let reservedDomains: Set<Substring> = ["invalid", "mail", "onion", "test"]

        func matches(_ address: WebAddress) -> Bool {
            if host.isEmpty {
                // Through a proxy, no other check keeps a request out of the user's network, because the proxy resolves
                // the name.
                let host = address.host
                return host.hasPrefix("[")
                    || !WebAddress.isLocal(host, orBelow: Self.reservedDomains)
            }
            guard address.port == port else { return false }
            let given = address.host.utf8
            guard given.suffix(host.utf8.count).elementsEqual(host.utf8) else { return false }
            let above = given.dropLast(host.utf8.count)
            return above.isEmpty || includesSubdomains && above.last == UInt8(ascii: ".")
        }
    }
}

extension WebAddress {
    /// The top-level domains of local networks.
    private static let localDomains: Set<Substring> = [
        "corp", "home", "internal", "intranet", "lan", "local", "localdomain", "localhost",
        "private",
    ]

    /// Returns true if only a local network resolves a name: it has no dot, or is below a domain that is reserved or in
    /// common use for that.
    ///
    /// - Parameters:
    ///   - host: The name, in lower case.
    ///   - others: More top-level domains.
    /// - Returns: True for such a name.
    ///
    /// Source: RFC 6761, RFC 6762, RFC 8375; ICANN, "Reserved TLD .INTERNAL" and "Name Collision" for the rest.
    package static func isLocal(_ host: String, orBelow others: Set<Substring> = []) -> Bool {
        let labels = host.split(separator: ".")
        guard labels.count > 1, let last = labels.last else { return true }
        return localDomains.contains(last) || others.contains(last)
            || labels.suffix(2) == ["home", "arpa"]
    }
}
