extension KeyedDecodingContainer {
    /// Decodes a value; nil if it is missing, null, or of another type.
    ///
    /// One changed field of a service does not make the whole record unreadable.
    public func lenient<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        (try? decodeIfPresent(type, forKey: key)) ?? nil
    }

    /// Decodes a number that some services send as text; nil if it is missing, null, or not a finite number.
    public func lenientNumber(_ key: Key) -> Double? {
        if let number = lenient(key, as: Double.self) { return number }
        guard let text = lenient(key, as: String.self), text.utf8.count <= 32,
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    /// Decodes an integer that some services send as text or with a fraction; nil if it is missing, null, or not a
    /// number.
    public func lenientInteger(_ key: Key) -> Int? {
        lenient(key, as: Int.self) ?? lenientNumber(key).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Decodes a Boolean value that some services send as 0 or 1, or as text; nil if it is missing, null, or of another
    /// type.
    public func lenientFlag(_ key: Key) -> Bool? {
        if let flag = lenient(key, as: Bool.self) { return flag }
        if let number = lenient(key, as: Int.self) { return number == 0 ? false : true }
        return switch lenient(key, as: String.self) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}

/// An array whose invalid elements are left out.
public struct LenientList<Element: Decodable>: Decodable {
    /// The valid elements, in order.
    public let elements: [Element]
    /// True if the array has elements, and none of them is valid.
    public let isUnreadable: Bool

    private struct Slot: Decodable {
        let element: Element?

        init(from decoder: any Decoder) { element = try? Element(from: decoder) }
    }

    /// Decodes an array. A value that is not an array is an error.
    public init(from decoder: any Decoder) throws {
        let slots = try [Slot](from: decoder)
        elements = slots.compactMap(\.element)
        isUnreadable = elements.isEmpty && !slots.isEmpty
    }
}
