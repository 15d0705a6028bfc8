/// The hosts that a request may go to, redirects included.
package struct AllowedHosts: Hashable, Sendable {
    /// Over `https` alone: `example.org`, `*.example.org` for all below it, `example.org:8443`, or `*` for
    /// any. None of them leads into the user's own network.
    package let patterns: [Pattern]
    /// Origins that the user has named: they may lie wherever the user says.
    package let origins: Set<String>

    package init(patterns: [Pattern], origins: Set<String> = []) {
        self.patterns = patterns
        self.origins = origins
    }

    package func permits(_ address: WebAddress) -> Bool {
        if address.scheme == .https, patterns.contains(where: { $0.matches(address) }) {
            return true
        }
        return !origins.isEmpty && origins.contains(address.origin)
    }

    /// Whether a text is an address that a request may go to.
    package func permits(_ text: String) -> Bool { WebAddress(text).map(permits) ?? false }

    /// How an address may be asked: what the user has not named never leads into their network.
    package func source(of address: WebAddress) -> HTTPRequest.AddressSource {
        origins.contains(address.origin) ? .configuration : .stranger
    }

    /// What a host has to be like.
    package struct Pattern: Hashable, Sendable {
        /// In lower case; empty for any.
        private let host: String
        private let takesSubdomains: Bool
        private let port: UInt16?

        /// Reads a pattern; nil for what is none.
        package init?(_ text: String) {
            if text == "*" {
                (host, takesSubdomains, port) = ("", true, nil)
                return
            }
            takesSubdomains = text.hasPrefix("*.")
            let name = takesSubdomains ? String(text.dropFirst(2)) : text
            guard let address = WebAddress("https://\(name)"), address.rest.isEmpty,
                address.host.contains("."), !address.host.hasSuffix(".")
            else { return nil }
            host = address.host
            port = address.port
        }

        /// True if a host can be part of the public internet, as far as its name shows.
        ///
        /// Behind a proxy, no other check keeps a request out of the user's network: the proxy resolves the name.
        private static func isPublic(_ host: String) -> Bool {
            if host.hasPrefix("[") { return true }
            let labels = host.split(separator: ".")
            guard labels.count > 1, let last = labels.last else { return false }
            return !privateDomains.contains(String(last)) && labels.suffix(2) != ["home", "arpa"]
        }

        /// The top-level domains of private networks.
        ///
        /// Source: RFC 6761, RFC 6762, RFC 8375, and the names that ICANN reserves or never delegates.
        private static let privateDomains: Set = [
            "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain",
            "localhost",
            "mail", "onion", "private", "test",
        ]

        func matches(_ address: WebAddress) -> Bool {
            if host.isEmpty { return Self.isPublic(address.host) }
            guard address.port == port else { return false }
            let given = address.host.utf8
            guard given.suffix(host.utf8.count).elementsEqual(host.utf8) else { return false }
            let above = given.dropLast(host.utf8.count)
            return above.isEmpty || takesSubdomains && above.last == UInt8(ascii: ".")
        }
    }
}
