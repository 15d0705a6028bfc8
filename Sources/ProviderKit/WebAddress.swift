/// An absolute address on the web, as far as it decides who is asked.
///
/// Takes less than RFC 3986 does: no user name, no character that another reader might see otherwise. So
/// what it says of an address is what whoever connects to it sees, too.
package struct WebAddress: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http
        case https

        /// The one that need not be written.
        fileprivate var port: UInt16 { self == .https ? 443 : 80 }
    }

    package let scheme: Scheme
    /// nil for the one of the scheme.
    package let port: UInt16?
    /// The address, with scheme and host in lower case, and without the port of the scheme.
    package let text: String
    /// Where the host ends, in bytes of ``text``.
    private let hostEnd: Int
    /// Where the port ends.
    private let originEnd: Int

    /// The longest address that is read, in bytes.
    package static let maximumLength = 8192

    package init?(_ text: String) {
        var text = text
        guard let parts = text.withUTF8(Parts.init) else { return nil }
        scheme = parts.scheme
        port = parts.port == scheme.port ? nil : parts.port
        // Nearly all addresses are as they should be.
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

    /// In lower case; an IPv6 address in its brackets.
    package var host: String { String(text.slice(scheme.rawValue.utf8.count + 3..<hostEnd)) }

    /// `https://host[:port]`, the same for all addresses of an origin (RFC 6454).
    package var origin: String { String(text.slice(0..<originEnd)) }

    /// Path, query and fragment, as they were; maybe empty.
    package var rest: String { String(text.slice(originEnd..<text.utf8.count)) }

    /// What stands between `?` and `#`; nil where there is no `?`.
    package var query: Substring? {
        let base = text.slice(originEnd..<text.utf8.count).prefix { $0 != "#" }
        return base.firstIndex(of: "?").map { base[base.index(after: $0)...] }
    }

    /// Whether the host is this computer, by its name alone.
    package var isLoopback: Bool {
        let host = host
        if host == "localhost" || host == "[::1]" { return true }
        guard host.utf8.starts(with: "127.".utf8) else { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }

    /// Whether it may be asked: `http` goes to this computer alone.
    package var isSafe: Bool { scheme == .https || isLoopback }
}

extension String {
    /// The bytes at some places, which are those of whole characters.
    fileprivate func slice(_ places: Range<Int>) -> Substring {
        let start = utf8.index(startIndex, offsetBy: places.lowerBound)
        return self[start..<utf8.index(start, offsetBy: places.count)]
    }
}

/// Where the parts of an address are. By bytes: they are plain ASCII, and every photo has several addresses.
private struct Parts {
    let scheme: WebAddress.Scheme
    let host: Range<Int>
    /// nil where none is written.
    let port: UInt16?
    /// Where path, query and fragment begin.
    let end: Int
    /// Whether scheme and host are in lower case, and the port is as it should be.
    let isNormal: Bool

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let plain = PlainBytes.all
        guard bytes.count <= WebAddress.maximumLength, bytes.allSatisfy(plain.contains),
            let (scheme, start) = Self.scheme(bytes)
        else { return nil }
        let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.count
        guard let hostEnd = Self.hostEnd(bytes[start..<end]) else { return nil }
        port = Self.port(bytes[hostEnd..<end])
        guard port != nil || hostEnd == end else { return nil }
        self.scheme = scheme
        self.end = end
        host = start..<hostEnd
        let hasUsualPort =
            port == nil || bytes[hostEnd + 1] != UInt8(ascii: "0") && port != scheme.port
        isNormal = hasUsualPort && !bytes[..<hostEnd].contains(where: \.isUpperCase)
    }

    /// The scheme, and where it ends.
    private static func scheme(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> (scheme: WebAddress.Scheme, end: Int)? {
        guard let colon = bytes.prefix(6).firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8),
            let scheme = WebAddress.Scheme(
                rawValue: String(decoding: bytes[..<colon], as: UTF8.self).lowercased())
        else { return nil }
        return (scheme, colon + 3)
    }

    /// Where the host at the beginning ends; nil where none is.
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
            guard byte.isOfName, byte != UInt8(ascii: ".") || previous != byte else { return nil }
            previous = byte
        }
        return end == authority.startIndex ? nil : end
    }

    /// The port after the colon; nil where none is.
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
    fileprivate var isLetter: Bool { 0x61...0x7a ~= self | 0x20 }
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }
    fileprivate var isHexDigit: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }

    /// Whether it may stand in the name of a host.
    fileprivate var isOfName: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
            || self == UInt8(ascii: "_")
    }

    /// Whether path, query or fragment begins with it.
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}

/// The bytes that may stand in an address (RFC 3986 §2), and `|`, which services send unescaped.
private struct PlainBytes {
    static let all = PlainBytes()

    /// A bit for each.
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
