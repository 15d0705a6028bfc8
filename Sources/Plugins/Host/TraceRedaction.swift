internal import Glibc
internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit

/// A filter that removes secrets from the messages of a trace.
///
/// A plugin receives no token. Messages can still contain secrets: a setting with a key, a request with a key of the
/// plugin, a response that repeats the token or contains another one. The filter removes known values, credentials after
/// the name of an authentication scheme, and values with a secret name. Such values are fields of an address or a form,
/// members of JSON and header fields. It scans bytes and parses no JSON, because bodies have several MiB, contain JSON in
/// strings, and may be truncated.
nonisolated struct TraceRedaction {
    /// The settings that the manifest marks as secret.
    let secretSettings: Set<String>
    /// The values that are removed wherever they occur.
    private let values: [[UInt8]]

    private static let mark = "(secret)"
    /// The bytes before and after a field.
    private static let separators = Set("?&;# \t\r\n\"'<>,{}()".utf8)
    /// Source: RFC 6750 §2.1, RFC 7617.
    private static let schemes = ["Bearer ", "Basic "].map { Array($0.utf8) }
    /// The minimum length of credentials after the name of a scheme. Shorter words are ordinary text.
    private static let minimumCredentials = 8
    /// The names of secret fields of an address or a form. As names of JSON members, they are too common.
    private static let fields: Set = ["key", "sig", "signature", "code", "auth"]
    private static let maximumName = 64
    /// The escapes of a quotation mark in JSON in three strings of JSON.
    private static let maximumEscapes = 7
    private static let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))

    /// - Parameters:
    ///   - secretSettings: The settings that the manifest marks as secret.
    ///   - secrets: The secrets that requests carried.
    init(secretSettings: Set<String>, secrets: [Secret]) {
        self.secretSettings = secretSettings
        // Shorter values occur by chance in other text.
        values = secrets.map { $0.withBytes { Array($0) } }.filter { $0.count >= 3 }
            .flatMap { Self.encodings($0) }
    }

    /// Returns the forms in which a service repeats a secret: percent-encoded in an address or a form, escaped in JSON,
    /// and in JSON in a string of JSON.
    ///
    /// Source: RFC 3986 §2.1; RFC 8259 §7.
    private static func encodings(_ secret: [UInt8]) -> Set<[UInt8]> {
        let bytes = secret.map { byte in
            var escaped: [UInt8] = []
            URLEncoding.escape([byte], into: &escaped)
            return escaped
        }
        // The digits of an escape may have lower-case letters.
        let lowerCase = bytes.map { $0.count == 1 ? $0 : $0.map { $0 | 0x20 } }
        let percent = [bytes, lowerCase].map { Array($0.joined()) }
        func escaped(_ bytes: [UInt8], slash: [UInt8]) -> [UInt8] {
            bytes.flatMap { byte in
                byte == quote || byte == escape
                    ? [escape, byte] : byte == UInt8(ascii: "/") ? slash + [byte] : [byte]
            }
        }
        let json = [[], [escape]].map { escaped(secret, slash: $0) }
        return Set([secret] + percent + json + json.map { escaped($0, slash: []) })
    }

    /// Returns a message without its secrets.
    func message(_ message: JSON) -> JSON {
        let isStart = message["method"] == .string(PluginMethod.initialize.rawValue)
        let bytes = redacted(message.line.dropLast()) { name in
            Self.isSecretName(name) || isStart && isSecretSetting(name)
        }
        return (try? JSON(parsing: bytes)) ?? .string(Self.mark)
    }

    /// Returns a text without its secrets.
    func text(_ text: String) -> String {
        String(decoding: redacted(Array(text.utf8), Self.isSecretName), as: UTF8.self)
    }

    private func redacted(_ bytes: [UInt8], _ isSecret: (String) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        for range in secretRanges(bytes, isSecret).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound >= position {
                result += bytes[position..<range.lowerBound]
                result += Self.mark.utf8
            }
            position = max(position, range.upperBound)
        }
        return result + bytes[position...]
    }

    private func secretRanges(
        _ bytes: [UInt8], _ isSecret: (String) -> Bool
    ) -> [Range<Int>] {
        var ranges = values.flatMap { value in
            Self.starts(of: value, in: bytes).map { $0..<$0 + value.count }
        }
        for scheme in Self.schemes {
            for start in Self.starts(of: scheme, in: bytes) {
                let range = Self.field(from: start + scheme.count, in: bytes)
                if range.count >= Self.minimumCredentials { ranges.append(range) }
            }
        }
        for equals in Self.starts(of: [UInt8(ascii: "=")], in: bytes) {
            var start = equals
            while start > 0, equals - start < Self.maximumName,
                !Self.separators.contains(bytes[start - 1])
            {
                start -= 1
            }
            let name = String(decoding: bytes[start..<equals], as: UTF8.self)
            let range = Self.field(from: equals + 1, in: bytes)
            if !range.isEmpty, Self.fields.contains(name.lowercased()) || Self.isSecretName(name) {
                ranges.append(range)
            }
        }
        for byte in [UInt8(ascii: ":"), UInt8(ascii: ",")] {
            for position in Self.starts(of: [byte], in: bytes) {
                guard let (name, start, escapes) = Self.member(at: position, in: bytes),
                    isSecret(name) || name == "body_base64"
                else { continue }
                let range = Self.string(from: start, escapes, in: bytes)
                if !range.isEmpty, isSecret(name) || hasSecret(base64: bytes[range], isSecret) {
                    ranges.append(range)
                }
            }
        }
        return ranges
    }

    private func hasSecret(base64: ArraySlice<UInt8>, _ isSecret: (String) -> Bool) -> Bool {
        let body = Base64.decode(String(decoding: base64, as: UTF8.self))
        return body.map { !secretRanges($0, isSecret).isEmpty } ?? false
    }

    private static func starts(of needle: [UInt8], in bytes: [UInt8]) -> [Int] {
        guard let first = needle.first else { return [] }
        return bytes.withUnsafeBytes { bytes in
            var starts: [Int] = []
            var position = 0
            while let base = bytes.baseAddress, position + needle.count <= bytes.count,
                let found = memchr(base + position, Int32(first), bytes.count - position)
            {
                position = UnsafeRawPointer(found) - base
                let isFound = bytes[position...].starts(with: needle)
                if isFound { starts.append(position) }
                position += isFound ? needle.count : 1
            }
            return starts
        }
    }

    /// Returns the value of a field of an address, a form or a header.
    private static func field(from start: Int, in bytes: [UInt8]) -> Range<Int> {
        var end = bytes[start...].firstIndex(where: separators.contains) ?? bytes.endIndex
        // The escapes before a quotation mark belong to it.
        while end > start, end < bytes.count, bytes[end - 1] == escape { end -= 1 }
        return start..<end
    }

    /// Returns the name before a colon or a comma, and the start of the value: of a JSON member, or of a header field,
    /// which is an array of two strings. In a string of JSON, quotation marks have escapes.
    ///
    /// - Returns: nil if no string precedes or follows.
    private static func member(
        at separator: Int, in bytes: [UInt8]
    ) -> (name: String, start: Int, escapes: Int)? {
        let isBlank = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
        var end = separator
        while end > 0, isBlank(bytes[end - 1]) { end -= 1 }
        guard end > 0, bytes[end - 1] == quote else { return nil }
        end -= 1
        let escapes = bytes[..<end].suffix(maximumEscapes).reversed().prefix { $0 == escape }.count
        end -= escapes
        var start = end
        while start > 0, end - start < maximumName, bytes[start - 1] != quote { start -= 1 }
        let before = bytes[..<max(0, start - 1 - escapes)].suffix(maximumName).last { !isBlank($0) }
        var first = separator + 1
        while first < bytes.count, isBlank(bytes[first]) { first += 1 }
        first += escapes
        guard bytes[separator] == UInt8(ascii: ":") || before == UInt8(ascii: "["),
            first < bytes.count, bytes[first] == quote
        else { return nil }
        return (String(decoding: bytes[start..<end], as: UTF8.self), first + 1, escapes)
    }

    /// Returns the content of a string from its start. It ends at a quotation mark with as many escapes; pairs of
    /// further ones are escapes of the content.
    private static func string(from start: Int, _ escapes: Int, in bytes: [UInt8]) -> Range<Int> {
        var run = 0
        for (index, byte) in zip(start..., bytes[start...]) {
            if byte == quote, run >= escapes, (run - escapes).isMultiple(of: 2 * (escapes + 1)) {
                return start..<max(start, index - escapes)
            }
            run = byte == escape ? run + 1 : 0
        }
        return start..<bytes.count
    }

    // MARK: Names

    private func isSecretSetting(_ name: String) -> Bool {
        secretSettings.contains(name)
            || ["key", "auth", "code"].contains(where: name.lowercased().contains)
    }

    /// Returns true if the value of a member or a header field of this name is a secret.
    ///
    /// Page tokens and continuation tokens are not secret.
    private static func isSecretName(_ name: String) -> Bool {
        let letters = name.lowercased().filter { $0.isLetter }
        let parts = [
            "secret", "password", "passwd", "authorization", "cookie", "apikey", "accesskey",
            "privatekey", "credential",
        ]
        // The address of an authorization endpoint is not secret.
        if ["url", "uri", "endpoint"].contains(where: letters.hasSuffix) { return false }
        if parts.contains(where: letters.contains) { return true }
        return letters.hasSuffix("token")
            && !["page", "next", "continuation", "sync"].contains(where: letters.contains)
    }
}
