extension KeyedDecodingContainer {
    /// A value; nil where it is missing, null, or of another type than it should be. One field that the
    /// service changed takes nothing else along.
    package func lenient<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        (try? decodeIfPresent(type, forKey: key)) ?? nil
    }

    /// Decodes a number that some services send as text; nil where it is missing, null, or something else.
    package func lenientNumber(_ key: Key) -> Double? {
        if let number = lenient(key, as: Double.self) { return number }
        guard let text = lenient(key, as: String.self), text.utf8.count <= 32,
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    /// Decodes an integer that some services send as text, or as a number with a fraction; nil where it is missing,
    /// null, or something else.
    package func lenientInteger(_ key: Key) -> Int? {
        lenient(key, as: Int.self) ?? lenientNumber(key).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Decodes a Boolean value that some services send as 0 or 1, or as text; nil where it is missing, null, or
    /// something else.
    package func lenientFlag(_ key: Key) -> Bool? {
        if let flag = lenient(key, as: Bool.self) { return flag }
        if let number = lenient(key, as: Int.self) { return number == 0 ? false : true }
        return switch lenient(key, as: String.self) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
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
