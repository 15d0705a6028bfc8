package import DBus
package import JSONFormat

extension JSON {
    /// Creates the JSON form of a D-Bus value. A structure becomes an array, a file descriptor becomes null.
    package init(_ variant: Variant) {
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
                    let text = String(decoding: name.line.dropLast(), as: UTF8.self)
                    return Member(name.string ?? text, JSON(entry.value))
                })
        case .variant(let value): self.init(value)
        }
    }
}
