/// A value of any type, marshalled as a variant; the type of the values that property getters return.
nonisolated package struct AnyVariant: BusType {
    package static let signature: Signature = "v"
    package static let alignment = 1
    /// The value, which is a ``Variant`` if it was read from a message.
    package let value: any BusType
    /// True if ``value`` is a ``Variant`` that was read from a message and already contains its signature.
    private let isRead: Bool

    package init(_ value: any BusType) {
        self.value = value
        isRead = false
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        if !isRead { encoder.append(signature: type(of: value).signature) }
        try value.encode(into: &encoder)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        value = try Variant(from: &decoder)
        isRead = true
    }
}

/// A dictionary that preserves the order of its entries.
nonisolated package struct OrderedEntries<Key: BasicBusType, Value: BusType>: BusType {
    package static var signature: Signature { Dictionary<Key, Value>.signature }
    package static var alignment: Int { 4 }
    package var entries: [(key: Key, value: Value)]

    package init(_ entries: [(key: Key, value: Value)] = []) { self.entries = entries }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        for (key, value) in entries {
            encoder.align(to: 8)
            try key.encode(into: &encoder)
            try value.encode(into: &encoder)
        }
        try encoder.endArray(start)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        entries = []
        try decoder.readEntries { (key: Key, value: Value) in entries.append((key, value)) }
    }
}
