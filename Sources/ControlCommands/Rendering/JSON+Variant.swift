internal import Contract
internal import DBus
internal import JSONFormat

extension JSON {
    /// Creates the JSON form of a D-Bus value. A structure becomes an array, a file descriptor becomes null.
    init(_ variant: Variant) {
        switch variant {
        case .byte(let value): self = .integer(Int64(value))
        case .bool(let value): self = .bool(value)
        case .int16(let value): self = .integer(Int64(value))
        case .uint16(let value): self = .integer(Int64(value))
        case .int32(let value): self = .integer(Int64(value))
        case .uint32(let value): self = .integer(Int64(value))
        case .int64(let value): self = .integer(value)
        case .uint64(let value):
            self = Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
        case .double(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .objectPath(let value): self = .string(value.text)
        case .signature(let value): self = .string(value.text)
        case .fileDescriptor: self = .null
        case .array(let elements, _), .structure(let elements):
            self = .array(elements.map(JSON.init))
        case .dictionary(let entries, _, _):
            self = .object(
                entries.map { entry in
                    let name = JSON(entry.key)
                    return Member(name.string ?? name.text, JSON(entry.value))
                })
        case .variant(let value): self.init(value)
        }
    }

    /// Creates an object from the properties of an interface, in the order of its documentation.
    init(_ properties: [String: Variant], of interface: InterfaceName) {
        self = .object(Self.members(properties, order: interface.properties))
    }

    /// Returns the members of an object for a dictionary of the type `a{sv}`.
    ///
    /// - Parameters:
    ///   - values: The dictionary.
    ///   - order: The order of the first keys. Other keys follow, sorted by name.
    /// - Returns: The members.
    static func members(_ values: [String: Variant], order: [String]) -> [Member] {
        let known = order.filter { values[$0] != nil }
        let others = values.keys.filter { !order.contains($0) }.sorted()
        return (known + others).compactMap { key in values[key].map { Member(key, JSON($0)) } }
    }

    /// The JSON text on one line, without a line feed at the end.
    ///
    /// The text may appear on a terminal. The characters that are unwanted there occur in strings only, and are escaped.
    var text: String {
        var text = ""
        for scalar in String(decoding: line.dropLast(), as: UTF8.self).unicodeScalars {
            if TerminalText.isUnwanted(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
