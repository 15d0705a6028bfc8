/// The decoded fields of a query or a form. If several fields have one name, the first one is used.
///
/// The implementation is independent of the code under test.
///
/// Source: WHATWG URL §5.
package struct FormFields: Sendable {
    package private(set) var fields: [(name: String, value: String)] = []

    package init() {}

    package init(_ text: some StringProtocol) {
        fields = text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
        }
    }

    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    package static func + (left: FormFields, right: FormFields) -> FormFields {
        var both = left
        both.fields += right.fields
        return both
    }

    /// Returns `name=value&…` with one field replaced, sorted by name, as the service repeats a query in links.
    package func sorted(replacing name: String, with value: String) -> String {
        let others = fields.filter { $0.name != name }
        return (others + [(name, value)]).sorted { $0.name < $1.name }
            .map { "\(Self.encode($0.name))=\(Self.encode($0.value))" }.joined(separator: "&")
    }

    /// Returns `name=value&…`.
    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    package static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch UnicodeScalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~":
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            case " ": encoded += "+"
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// Decodes percent escapes and plus signs; other text is unchanged.
    package static func decode(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = UInt8(rest.prefix(2).text, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Substring.UTF8View {
    fileprivate var text: Substring { Substring(self) }
}
