/// An absolute address on the web, as far as it decides who is asked.
///
/// Takes less than RFC 3986 does: no user name, no character that another reader might see otherwise. So
/// what it says of an address is what whoever connects to it sees, too.
package struct WebAddress: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    package let scheme: Scheme
    /// In lower case; an IPv6 address in its brackets.
    package let host: String
    /// nil for the one of the scheme.
    package let port: UInt16?
    /// Path, query and fragment, as they were; maybe empty.
    package let rest: String

    /// The longest address that is read, in bytes.
    package static let maximumLength = 8192

    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy(Self.isPlain),
            let schemeEnd = text.firstRange(of: "://"),
            let scheme = Scheme(rawValue: text[..<schemeEnd.lowerBound].lowercased())
        else { return nil }
        let tail = text[schemeEnd.upperBound...]
        let end = tail.firstIndex { "/?#".contains($0) } ?? tail.endIndex
        guard let (host, port) = Self.hostAndPort(tail[..<end]) else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port == (scheme == .https ? 443 : 80) ? nil : port
        rest = String(tail[end...])
    }

    /// `https://host[:port]`, the same for all addresses of an origin (RFC 6454).
    package var origin: String {
        "\(scheme.rawValue)://\(host)" + (port.map { ":\($0)" } ?? "")
    }

    /// The address, with scheme and host in lower case.
    package var text: String { origin + rest }

    /// What stands between `?` and `#`; nil where there is no `?`.
    package var query: Substring? {
        let base = rest.prefix { $0 != "#" }
        return base.firstIndex(of: "?").map { base[base.index(after: $0)...] }
    }

    /// Whether the host is this computer, by its name alone.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }

    /// Whether it may be asked: `http` goes to this computer alone.
    package var isSafe: Bool { scheme == .https || isLoopback }

    private static func hostAndPort(_ authority: Substring) -> (String, UInt16?)? {
        let host: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            guard host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || ":.".contains($0) })
            else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            guard !host.isEmpty, host.first != ".", !host.contains(".."),
                host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) })
            else { return nil }
        }
        let tail = authority[host.endIndex...]
        guard !tail.isEmpty else { return (host.lowercased(), nil) }
        let digits = tail.dropFirst()
        guard tail.first == ":", digits.allSatisfy(\.isNumber), let port = UInt16(digits), port > 0
        else { return nil }
        return (host.lowercased(), port)
    }

    /// Whether a byte may stand in an address (RFC 3986 §2), or is `|`, which services send unescaped.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?#[]@!$&'()*+,;=%|".utf8.contains(byte)
        }
    }
}
