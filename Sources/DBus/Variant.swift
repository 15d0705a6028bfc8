/// A value together with its type. D-Bus type `v`.
nonisolated package indirect enum Variant: Hashable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    case fileDescriptor(FileDescriptor)
    /// The elements and their common complete type.
    case array([Variant], of: Signature)
    /// The entries in order, the type of the keys and the type of the values.
    case dictionary([Entry], key: Signature, value: Signature)
    case structure([Variant])
    case variant(Variant)

    /// One entry of a dictionary.
    package struct Entry: Hashable, Sendable {
        package let key: Variant
        package let value: Variant

        package init(key: Variant, value: Variant) {
            self.key = key
            self.value = value
        }
    }

    /// The contained value; this variant itself for an array, a dictionary and a structure, whose types are not known at
    /// compile time.
    private var content: any BusType {
        switch self {
        case .byte(let value): value
        case .bool(let value): value
        case .int16(let value): value
        case .uint16(let value): value
        case .int32(let value): value
        case .uint32(let value): value
        case .int64(let value): value
        case .uint64(let value): value
        case .double(let value): value
        case .string(let value): value
        case .objectPath(let value): value
        case .signature(let value): value
        case .fileDescriptor(let value): value
        case .variant(let value): value
        case .array, .dictionary, .structure: self
        }
    }

    /// The type of the contained value.
    package var valueSignature: Signature {
        switch self {
        case .array(_, let element): Signature(unchecked: "a\(element)")
        case .dictionary(_, let key, let value): Signature(unchecked: "a{\(key)\(value)}")
        case .structure(let fields):
            Signature(unchecked: "(" + fields.map(\.valueSignature.text).joined() + ")")
        default: type(of: content).signature
        }
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var uint32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
    package var int64: Int64? { if case .int64(let value) = self { value } else { nil } }
    package var objectPath: ObjectPath? {
        if case .objectPath(let value) = self { value } else { nil }
    }
    package var fileDescriptor: FileDescriptor? {
        if case .fileDescriptor(let value) = self { value } else { nil }
    }
    package var strings: [String]? {
        if case .array(let elements, String.signature) = self {
            elements.compactMap(\.string)
        } else {
            nil
        }
    }
}

nonisolated extension Variant: BusType {
    package static let signature: Signature = "v"

    package func encode(into encoder: inout Encoder) throws(BusError) {
        encoder.append(signature: valueSignature)
        try encodeValue(into: &encoder)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        try decoder.check(Self.signature)
        var inner = decoder.enter()
        self = try inner.anyValue()
        decoder.next()
    }

    /// Appends the contained value without its signature.
    func encodeValue(into encoder: inout Encoder) throws(BusError) {
        switch self {
        case .array(let elements, let type):
            let start = encoder.beginArray(alignment: type.firstAlignment)
            for element in elements {
                guard element.valueSignature == type else { throw .invalidValue("mixed array") }
                try element.encodeValue(into: &encoder)
            }
            try encoder.endArray(start)
        case .dictionary(let entries, let key, let value):
            let start = encoder.beginArray(alignment: 8)
            for entry in entries {
                guard entry.key.valueSignature == key, entry.value.valueSignature == value else {
                    throw .invalidValue("mixed dictionary")
                }
                encoder.align(to: 8)
                try entry.key.encodeValue(into: &encoder)
                try entry.value.encodeValue(into: &encoder)
            }
            try encoder.endArray(start)
        case .structure(let fields):
            guard !fields.isEmpty else { throw .invalidValue("empty struct") }
            encoder.align(to: 8)
            for field in fields { try field.encodeValue(into: &encoder) }
        default: try content.encode(into: &encoder)
        }
    }
}

nonisolated extension Signature {
    /// The alignment of a value of this complete type.
    var firstAlignment: Int {
        switch text.utf8.first {
        case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("),
            UInt8(ascii: "{"):
            8
        default: 4
        }
    }
}

/// A value of any type, marshalled as a variant; the type of the values that property getters return. It is only sent.
nonisolated package struct AnyVariant: BusType {
    package static let signature: Signature = "v"
    package let value: any BusType

    package init(_ value: any BusType) { self.value = value }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        encoder.append(signature: type(of: value).signature)
        try value.encode(into: &encoder)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        throw .invalidValue("a value of any type is received as a variant")
    }
}

/// A dictionary that preserves the order of its entries. It is only sent.
nonisolated package struct OrderedEntries<Key: BasicBusType, Value: BusType>: BusType {
    package static var signature: Signature { Dictionary<Key, Value>.signature }
    package var entries: [(key: Key, value: Value)]

    package init(_ entries: [(key: Key, value: Value)] = []) { self.entries = entries }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        try encoder.append(entries: entries)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        throw .invalidValue("ordered entries are only sent")
    }
}
