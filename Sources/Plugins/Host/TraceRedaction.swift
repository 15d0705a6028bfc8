internal import PluginProtocol
internal import ProviderKit

/// A filter that removes secrets from the messages of a trace.
///
/// A plugin receives no token. Messages can still contain secrets: a setting with a key, a request with a key of the
/// plugin, a response that repeats the token or contains another one.
nonisolated struct TraceRedaction {
    /// The settings that the manifest marks as secret.
    let secretSettings: Set<String>
    /// The values that are removed wherever they occur.
    private let values: [[UInt8]]

    static let mark = "(secret)"

    /// - Parameters:
    ///   - secretSettings: The settings that the manifest marks as secret.
    ///   - secrets: The secrets that requests carried.
    init(secretSettings: Set<String>, secrets: [Secret]) {
        self.secretSettings = secretSettings
        // Shorter values occur by chance in other text.
        values = secrets.map { $0.withBytes { Array($0) } }.filter { $0.count >= 3 }
            .flatMap { secret in
                let encoded = ["0123456789ABCDEF", "0123456789abcdef"].map {
                    Self.encoded(secret, $0)
                }
                return Set([secret] + encoded)
            }
    }

    /// Returns the percent-encoding of a secret, for a service that repeats it in an address or a form.
    ///
    /// Source: RFC 3986 §2.1.
    private static func encoded(_ secret: [UInt8], _ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        let unreserved = Set("-._~".utf8)
        return secret.flatMap { byte -> [UInt8] in
            let isLetterOrDigit =
                0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte
            guard !isLetterOrDigit, !unreserved.contains(byte) else { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    /// Returns a message without its secrets.
    func message(_ message: JSONValue) -> JSONValue {
        guard case .object(var members) = message else { return value(message) }
        if members["method"] == .string(PluginMethod.initialize.rawValue),
            case .object(var parameters)? = members["params"],
            case .object(let settings)? = parameters["settings"]
        {
            parameters["settings"] = .object(
                Dictionary(
                    uniqueKeysWithValues: settings.map { key, value in
                        (key, isSecretSetting(key) ? .string(Self.mark) : self.value(value))
                    }))
            members["params"] = .object(parameters)
            return .object(members)
        }
        return value(message)
    }

    /// Returns a text without its secrets.
    func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let ranges = SecretRanges(in: bytes, values)
        let text =
            ranges.isEmpty ? text : String(decoding: ranges.replaced(by: Self.mark), as: UTF8.self)
        guard let first = bytes.first(where: { $0 > 0x20 }), first == 0x7b || first == 0x5b,
            let document = try? JSONValue(parsing: Array(text.utf8))
        else { return text }
        let redacted = value(document)
        return redacted == document
            ? text : String(decoding: redacted.line.dropLast(), as: UTF8.self)
    }

    private func value(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .integer, .number: value
        case .string(let text): .string(self.text(text))
        case .array(let elements): array(elements)
        case .object(let members):
            .object(
                Dictionary(
                    members.map { key, value in (text(key), member(key, value)) },
                    uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Returns an array without its secrets. A pair of strings may be a header field.
    private func array(_ elements: [JSONValue]) -> JSONValue {
        if elements.count == 2, case .string(let name) = elements[0], case .string = elements[1],
            Self.isSecretName(name)
        {
            return .array([elements[0], .string(Self.mark)])
        }
        return .array(elements.map(value))
    }

    private func member(_ key: String, _ value: JSONValue) -> JSONValue {
        switch value {
        case .string where Self.isSecretName(key): .string(Self.mark)
        case .string(let text) where key == "body_base64": body(text)
        default: self.value(value)
        }
    }

    /// Removes a body that is not UTF-8 if it contains a secret.
    private func body(_ base64: String) -> JSONValue {
        guard !values.isEmpty, let bytes = Base64.decode(base64) else { return .string(base64) }
        return .string(SecretRanges(in: bytes, values).isEmpty ? base64 : Self.mark)
    }

    // MARK: Names

    private func isSecretSetting(_ name: String) -> Bool {
        secretSettings.contains(name) || Self.isSecretName(name)
            || ["key", "auth", "code"].contains(where: name.lowercased().contains)
    }

    /// Returns true if the value of a member or a header field of this name is a secret.
    ///
    /// Page tokens and continuation tokens are not secret.
    static func isSecretName(_ name: String) -> Bool {
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
