extension KeyedDecodingContainer {
    /// A value; nil where it is missing, null, or of another type than it should be. One field that the
    /// service changed takes nothing else along.
    package func lenient<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        (try? decodeIfPresent(type, forKey: key)) ?? nil
    }
}

/// A list, of which what cannot be read is left out.
package struct LenientList<Element: Decodable>: Decodable {
    /// Those that could be read.
    package let elements: [Element]
    /// Whether there were elements, but none that could be read.
    package let isNonsense: Bool

    private struct Slot: Decodable {
        let element: Element?

        init(from decoder: any Decoder) { element = try? Element(from: decoder) }
    }

    package init(from decoder: any Decoder) throws {
        let slots = try [Slot](from: decoder)
        elements = slots.compactMap(\.element)
        isNonsense = elements.isEmpty && !slots.isEmpty
    }
}
