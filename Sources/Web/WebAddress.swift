/// An absolute address with the scheme `http` or `https`.
///
/// The grammar is stricter than RFC 3986: no user name, and no character that parsers interpret differently. The host
/// that this type returns is the host that is connected to.
public struct WebAddress: Hashable, Sendable {
    /// The scheme of an address.
    public enum Scheme: String, Sendable {
        case http
        case https

        /// The default port.
        fileprivate var port: UInt16 { self == .https ? 443 : 80 }
    }

    /// The scheme.
    public let scheme: Scheme
    /// The port; nil for the default port of the scheme.
    public let port: UInt16?
    /// The address, with scheme and host in lower case and without the default port.
    public let text: String
    /// The index of the first byte of ``text`` after the host.
    private let hostEnd: Int
    /// The index of the first byte of ``text`` after the port.
    private let originEnd: Int

    /// The maximum length of an address, in bytes.
    public static let maximumLength = 8192

    /// Parses an address; nil if it is invalid or longer than ``maximumLength``.
    public init?(_ text: String) {
        var text = text
        guard let parts = text.withUTF8(Self.parts) else { return nil }
        scheme = parts.scheme
        port = parts.port == scheme.port ? nil : parts.port
        // Nearly all addresses are normalized.
        if parts.isNormal {
            (hostEnd, originEnd) = (parts.host.upperBound, parts.end)
            self.text = text
        } else {
            let host = text.slice(parts.host).lowercased()
            let start = "\(scheme.rawValue)://\(host)"
            let origin = start + (port.map { ":\($0)" } ?? "")
            (hostEnd, originEnd) = (start.utf8.count, origin.utf8.count)
            self.text = origin + text.slice(parts.end..<text.utf8.count)
        }
    }

    /// The host in lower case; an IPv6 address is in brackets.
    public var host: String { String(text.slice(scheme.rawValue.utf8.count + 3..<hostEnd)) }

    /// The origin, `https://host[:port]` (RFC 6454).
    public var origin: String { String(text.slice(0..<originEnd)) }

    /// The path, query and fragment, unchanged; empty if there are none.
    public var rest: String { String(text.slice(originEnd..<text.utf8.count)) }

    /// The text between `?` and `#`; nil if there is no `?`.
    public var query: Substring? {
        let base = text.slice(originEnd..<text.utf8.count).prefix { $0 != "#" }
        return base.firstIndex(of: "?").map { base[base.index(after: $0)...] }
    }

    /// True if the host is `localhost` or a loopback address. Names are not resolved.
    public var isLoopback: Bool {
        let host = host
        if host == "localhost" || host == "[::1]" { return true }
        guard host.utf8.starts(with: "127.".utf8) else { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }

    /// True if the address may be requested: its scheme is `https`, or its host is on loopback.
    public var isSafe: Bool { scheme == .https || isLoopback }
}

extension String {
    /// Returns the text at a range of bytes, which must be those of whole characters.
    fileprivate func slice(_ range: Range<Int>) -> Substring {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        return self[start..<utf8.index(start, offsetBy: range.count)]
    }
}

extension WebAddress {
    /// The positions of the parts of an address, in bytes: the written port is nil if there is none, and the path, query or
    /// fragment begins at the end. An address is normal if scheme and host are in lower case, and the port is not the
    /// default port and has no leading zero.
    private typealias Parts = (
        scheme: Scheme, host: Range<Int>, port: UInt16?, end: Int, isNormal: Bool
    )

    /// Returns the parts; nil for an invalid address. Addresses are ASCII, and each photo has several, so that speed
    /// matters.
    private static func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> Parts? {
        let permitted = AddressBytes.all
        guard bytes.count <= maximumLength, bytes.allSatisfy(permitted.contains),
            let (scheme, start) = Self.scheme(bytes)
        else { return nil }
        let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.count
        guard let hostEnd = hostEnd(bytes[start..<end]) else { return nil }
        let port = port(bytes[hostEnd..<end])
        guard port != nil || hostEnd == end else { return nil }
        let hasUsualPort =
            port == nil || bytes[hostEnd + 1] != UInt8(ascii: "0") && port != scheme.port
        let isNormal = hasUsualPort && !bytes[..<hostEnd].contains(where: \.isUpperCase)
        return (scheme, start..<hostEnd, port, end, isNormal)
    }

    /// Returns the scheme, and the index after `://`.
    private static func scheme(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> (scheme: Scheme, end: Int)? {
        guard let colon = bytes.prefix(6).firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8),
            let scheme = Scheme(
                rawValue: String(decoding: bytes[..<colon], as: UTF8.self).lowercased())
        else { return nil }
        return (scheme, colon + 3)
    }

    /// Returns the index after the host at the beginning; nil if there is none.
    private static func hostEnd(_ authority: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")),
                authority[..<bracket].dropFirst().allSatisfy({
                    $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                })
            else { return nil }
            return bracket + 1
        }
        let end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        var previous = UInt8(ascii: ".")
        for byte in authority[..<end] {
            guard byte.isHostCharacter, byte != UInt8(ascii: ".") || previous != byte else {
                return nil
            }
            previous = byte
        }
        return end == authority.startIndex ? nil : end
    }

    /// Returns the port after the colon; nil if there is none.
    private static func port(_ tail: Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
        let digits = tail.dropFirst()
        guard tail.first == UInt8(ascii: ":"), digits.allSatisfy(\.isDigit),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { return nil }
        return port
    }
}

extension UInt8 {
    fileprivate var isUpperCase: Bool { 0x41...0x5a ~= self }
    fileprivate var isHexDigit: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }

    /// True if the byte may be part of a host name.
    fileprivate var isHostCharacter: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
            || self == UInt8(ascii: "_")
    }

    /// True if the byte begins a path, query or fragment.
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}

/// The bytes that may be part of an address (RFC 3986 §2), and `|`, which services send unescaped.
private struct AddressBytes {
    static let all = AddressBytes()

    /// One bit per byte.
    private let (low, high): (UInt64, UInt64)

    private init() {
        var bits: [UInt64] = [0, 0]
        for byte in UInt8(0)..<128
        where byte.isLetter || byte.isDigit || "-._~:/?#[]@!$&'()*+,;=%|".utf8.contains(byte) {
            bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
        }
        (low, high) = (bits[0], bits[1])
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 128 && (byte < 64 ? low : high) & 1 << UInt64(byte & 63) != 0
    }
}

extension String {
    /// The text with `…` in place of the user information of an address, which may contain a password:
    /// `https://…@host/path` for `https://bob:secret@host/path`.
    ///
    /// A password may contain characters that end the host name of an address. An address with a colon before its last
    /// `@` is therefore assumed to have a password. Handles like `@ada@host` are not changed.
    package var withoutUserInformation: String {
        guard let at = lastIndex(of: "@") else { return self }
        let start = firstRange(of: "://").map(\.upperBound) ?? startIndex
        guard start < at else { return self }
        let part = self[start..<at]
        let isAuthority = !part.contains { "/?#".contains($0) }
        let hasScheme = start > startIndex
        guard part.contains(":") || hasScheme && isAuthority else { return self }
        return "\(self[..<start])…\(self[at...])"
    }
}
