internal import Glibc

/// The secret parts of a text: known values, credentials after the name of an authentication scheme, and values with a
/// secret name. Such values are fields of an address or a form, and members of JSON. The JSON may be invalid, because a
/// program may have truncated it.
///
/// The text is scanned by bytes and not by characters, because bodies may have several MiB.
nonisolated struct SecretRanges {
    private let bytes: [UInt8]
    private var ranges: [Range<Int>] = []

    /// The bytes before and after a field.
    private static let separators = Set("?&;# \t\r\n\"'<>,{}()".utf8)
    /// Source: RFC 6750 §2.1, RFC 7617.
    private static let schemes = ["Bearer ", "Basic "].map { Array($0.utf8) }
    /// The minimum length of credentials after the name of a scheme. Shorter words are ordinary text.
    private static let minimumCredentials = 8
    /// The names of secret fields of an address or a form. As names of JSON members, they are too common.
    private static let fields: Set = ["key", "sig", "signature", "code", "auth"]
    private static let maximumName = 64

    /// - Parameters:
    ///   - bytes: The text.
    ///   - values: The known secrets.
    init(in bytes: [UInt8], _ values: [[UInt8]]) {
        self.bytes = bytes
        for value in values {
            for start in starts(of: value) { ranges.append(start..<start + value.count) }
        }
        for scheme in Self.schemes {
            for start in starts(of: scheme) {
                let range = start + scheme.count..<end(from: start + scheme.count)
                if range.count >= Self.minimumCredentials { ranges.append(range) }
            }
        }
        for equals in starts(of: [UInt8(ascii: "=")]) where isSecretField(before: equals) {
            let range = equals + 1..<end(from: equals + 1)
            if !range.isEmpty { ranges.append(range) }
        }
        for colon in starts(of: [UInt8(ascii: ":")]) {
            if let range = value(after: colon) { ranges.append(range) }
        }
        ranges.sort { $0.lowerBound < $1.lowerBound }
    }

    /// True if no part is secret.
    var isEmpty: Bool { ranges.isEmpty }

    /// Returns the text with a mark in place of each part.
    func replaced(by mark: String) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        for range in ranges {
            if range.lowerBound >= position {
                result += bytes[position..<range.lowerBound]
                result += mark.utf8
            }
            position = max(position, range.upperBound)
        }
        return result + bytes[position...]
    }

    private func starts(of needle: [UInt8]) -> [Int] {
        guard let first = needle.first else { return [] }
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var starts: [Int] = []
            var position = 0
            while position + needle.count <= bytes.count,
                let found = memchr(base + position, Int32(first), bytes.count - position)
            {
                let start = UnsafeRawPointer(found) - base
                guard start + needle.count <= bytes.count else { break }
                if memcmp(base + start, needle, needle.count) == 0 {
                    starts.append(start)
                    position = start + needle.count
                } else {
                    position = start + 1
                }
            }
            return starts
        }
    }

    private func end(from start: Int) -> Int {
        bytes[start...].firstIndex(where: Self.separators.contains) ?? bytes.endIndex
    }

    /// Returns the value of a secret JSON member, whose quotation marks may be escaped; nil for any other colon.
    private func value(after colon: Int) -> Range<Int>? {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        let isQuoting = { (byte: UInt8) in byte == quote || byte == escape }
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var end = colon
        while end > 0, isBlank(bytes[end - 1]) { end -= 1 }
        guard end > 0, bytes[end - 1] == quote else { return nil }
        end -= 1
        while end > 0, bytes[end - 1] == escape { end -= 1 }
        var start = end
        while start > 0, end - start < Self.maximumName, !isQuoting(bytes[start - 1]) { start -= 1 }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        guard TraceRedaction.isSecretName(name) else { return nil }
        var first = colon + 1
        while first < bytes.count, isBlank(bytes[first]) { first += 1 }
        while first < bytes.count, bytes[first] == escape { first += 1 }
        guard first < bytes.count, bytes[first] == quote else { return nil }
        first += 1
        let last = bytes[first...].firstIndex(where: isQuoting) ?? bytes.endIndex
        return first < last ? first..<last : nil
    }

    private func isSecretField(before equals: Int) -> Bool {
        var start = equals
        while start > 0, equals - start < Self.maximumName,
            !Self.separators.contains(bytes[start - 1])
        {
            start -= 1
        }
        let name = String(decoding: bytes[start..<equals], as: UTF8.self)
        return Self.fields.contains(name.lowercased()) || TraceRedaction.isSecretName(name)
    }
}
