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

    // By bytes, here and below: they are plain ASCII, and every photo has several addresses.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= Self.maximumLength, Self.isPlain(bytes),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let scheme = Scheme(rawValue: text[..<colon].lowercased()),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let tail = text[bytes.index(colon, offsetBy: 3)...]
        let end = tail.utf8.firstIndex { "/?#".utf8.contains($0) } ?? tail.endIndex
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
        guard host.utf8.starts(with: "127.".utf8) else { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }

    /// Whether it may be asked: `http` goes to this computer alone.
    package var isSafe: Bool { scheme == .https || isLoopback }

    private static func hostAndPort(_ authority: Substring) -> (String, UInt16?)? {
        let bytes = authority.utf8
        let end: Substring.Index
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")),
                bytes[..<bracket].dropFirst().allSatisfy({ $0.isHexDigit || ":.".utf8.contains($0) }
                )
            else { return nil }
            end = bytes.index(after: bracket)
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            var previous = UInt8(ascii: ".")
            for byte in bytes[..<end] {
                guard byte.isLetter || byte.isDigit || "-._".utf8.contains(byte),
                    byte != UInt8(ascii: ".") || previous != byte
                else { return nil }
                previous = byte
            }
            guard end != bytes.startIndex else { return nil }
        }
        let host = authority[..<end].lowercased()
        let tail = bytes[end...]
        guard let colon = tail.first else { return (host, nil) }
        let digits = tail.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy(\.isDigit),
            let port = UInt16(Substring(digits)), port > 0
        else { return nil }
        return (host, port)
    }

    /// Whether all bytes may stand in an address (RFC 3986 §2), or are `|`, which services send unescaped.
    private static func isPlain(_ bytes: String.UTF8View) -> Bool {
        let (low, high) = plain
        return bytes.allSatisfy { byte in
            byte < 128 && (byte < 64 ? low : high) & 1 << UInt64(byte & 63) != 0
        }
    }

    /// A bit for each byte that is.
    private static let plain: (below64: UInt64, above: UInt64) = {
        var bits: [UInt64] = [0, 0]
        for byte in UInt8(0)..<128
        where byte.isLetter || byte.isDigit || "-._~:/?#[]@!$&'()*+,;=%|".utf8.contains(byte) {
            bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
        }
        return (bits[0], bits[1])
    }()
}

extension UInt8 {
    fileprivate var isLetter: Bool { 0x61...0x7a ~= self | 0x20 }
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }
    fileprivate var isHexDigit: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }
}
