/// A Swift type that corresponds to one complete D-Bus type, known at compile time.
nonisolated package protocol BusType: Sendable {
    /// The complete type as which values of this type are marshalled.
    static var signature: Signature { get }

    /// Appends this value.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` for a value that D-Bus cannot represent.
    func encode(into encoder: inout Encoder) throws(BusError)

    /// Reads the next value.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` if the next value has another type.
    init(from decoder: inout Decoder) throws(BusError)
}

nonisolated extension BusType {
    /// The alignment of a value: 1, 2, 4 or 8 bytes.
    package static var alignment: Int { signature.firstAlignment }
}

/// A type that can be the key of a dictionary: a number, a string, a path or a signature.
nonisolated package protocol BasicBusType: BusType, Hashable {}

/// An integer or floating-point type that is marshalled as its bytes.
nonisolated package protocol FixedBusType: BasicBusType, BitwiseCopyable {
    init()
}

nonisolated extension FixedBusType {
    package func encode(into encoder: inout Encoder) { encoder.append(self) }
    package init(from decoder: inout Decoder) throws(BusError) {
        self = try decoder.basic(Self.signature, as: Self.self)
    }
}

nonisolated extension UInt8: FixedBusType { package static let signature: Signature = "y" }
nonisolated extension Int16: FixedBusType { package static let signature: Signature = "n" }
nonisolated extension UInt16: FixedBusType { package static let signature: Signature = "q" }
nonisolated extension Int32: FixedBusType { package static let signature: Signature = "i" }
nonisolated extension UInt32: FixedBusType { package static let signature: Signature = "u" }
nonisolated extension Int64: FixedBusType { package static let signature: Signature = "x" }
nonisolated extension UInt64: FixedBusType { package static let signature: Signature = "t" }
nonisolated extension Double: FixedBusType { package static let signature: Signature = "d" }

nonisolated extension Bool: BasicBusType {
    package static let signature: Signature = "b"
    package func encode(into encoder: inout Encoder) { encoder.append(self ? 1 : 0 as UInt32) }
    package init(from decoder: inout Decoder) throws(BusError) {
        self = try decoder.basic(Self.signature, as: UInt32.self) != 0
    }
}

nonisolated extension String: BasicBusType {
    package static let signature: Signature = "s"
    package func encode(into encoder: inout Encoder) throws(BusError) {
        try encoder.append(string: self)
    }
    package init(from decoder: inout Decoder) throws(BusError) {
        self = try decoder.string(Self.signature)
    }
}

nonisolated extension ObjectPath: BasicBusType {
    package static let signature: Signature = "o"
    package func encode(into encoder: inout Encoder) throws(BusError) {
        try encoder.append(string: text)
    }
    package init(from decoder: inout Decoder) throws(BusError) {
        self.init(unchecked: try decoder.string(Self.signature))
    }
}

nonisolated extension Signature: BasicBusType {
    package static let signature: Signature = "g"
    package func encode(into encoder: inout Encoder) { encoder.append(signature: self) }
    package init(from decoder: inout Decoder) throws(BusError) {
        self.init(unchecked: try decoder.string(Self.signature))
    }
}

nonisolated extension Array: BusType where Element: BusType {
    package static var signature: Signature {
        Signature(unchecked: "a" + Element.signature.text)
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: Element.alignment)
        for element in self { try element.encode(into: &encoder) }
        try encoder.endArray(start)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        self = []
        var elements = try decoder.enterArray(of: Element.signature)
        while !elements.isAtEnd { append(try Element(from: &elements)) }
    }
}

nonisolated extension Dictionary: BusType where Key: BasicBusType, Value: BusType {
    package static var signature: Signature {
        Signature(unchecked: "a{\(Key.signature)\(Value.signature)}")
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        try encoder.append(entries: self)
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        self = [:]
        var entries = try decoder.enterArray(
            of: Signature(unchecked: "{\(Key.signature)\(Value.signature)}"))
        while !entries.isAtEnd {
            var pair = entries.enter()
            let key = try Key(from: &pair)
            // If two entries have the same key, the later one is used.
            self[key] = try Value(from: &pair)
            entries.next()
        }
    }
}

/// A D-Bus struct: `(ss)`, `(uux)`.
nonisolated package struct BusStruct<each Element: BusType>: BusType {
    package var elements: (repeat each Element)

    package init(_ elements: repeat each Element) { self.elements = (repeat each elements) }

    package static var signature: Signature {
        Signature(unchecked: "(\(signatureText(repeat (each Element).self)))")
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        encoder.align(to: 8)
        for element in repeat each elements { try element.encode(into: &encoder) }
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        try decoder.check(Self.signature)
        var fields = decoder.enter()
        elements = (repeat try (each Element)(from: &fields))
        decoder.next()
    }
}
