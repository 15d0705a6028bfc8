/// A JSON value whose objects keep the order of their members.
///
/// Source: RFC 8259.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent, in the range of 64 bits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// One member of an object.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an object with members in the order of their names.
    package static func object(_ members: [String: JSON]) -> JSON {
        .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
    }

    /// The value of a member; nil if it is missing or null, or if this value is not an object.
    package subscript(name: String) -> JSON? {
        let value = members.first { $0.name == name }?.value
        return value == .null ? nil : value
    }

    /// The members of an object; none for other types.
    package var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// The elements of an array; none for other types.
    package var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    /// The text; nil for other types.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The integer; nil for other types.
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// The number, which may be an integer; nil for other types.
    package var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The type of the value with an article, for log messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    /// Creates an object. Members that are null are omitted.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.filter { $0.1 != .null }.map { Member($0.0, $0.1) })
    }

    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }
    package init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    package init(_ flag: Bool?) { self = flag.map { .bool($0) } ?? .null }
}
