/// An object in a response of a service, such as a JSON object. Its members are nil if they are missing, null, or of
/// another type.
///
/// Services change their responses; one changed member does not make the whole response unreadable.
///
/// ```swift
/// let record = try JSONDecoder().decode(ServiceRecord.self, from: body)
/// photo.title = record.text("title")
/// photo.author = record.record("user")?.text("name")
/// ```
public struct ServiceRecord: Decodable {
    private let members: KeyedDecodingContainer<Name>

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    /// Decodes an object. A value that is not an object is an error.
    public init(from decoder: any Decoder) throws {
        members = try decoder.container(keyedBy: Name.self)
    }

    /// Decodes a member without which the record has no use.
    ///
    /// - Throws: `DecodingError` if the member is missing, null, or of another type.
    public func required<Value: Decodable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws -> Value {
        try members.decode(type, forKey: Name(stringValue: name))
    }

    /// Decodes a member of any type.
    public func value<Value: Decodable>(
        _ name: String, as type: Value.Type = Value.self
    ) -> Value? {
        (try? members.decodeIfPresent(type, forKey: Name(stringValue: name))) ?? nil
    }

    /// Returns a text.
    public func text(_ name: String) -> String? { value(name) }

    /// Returns an object.
    public func record(_ name: String) -> ServiceRecord? { value(name) }

    /// Returns the objects of an array.
    public func records(_ name: String) -> [ServiceRecord]? {
        value(name, as: LenientList<ServiceRecord>.self)?.elements
    }

    /// Returns a finite number, which some services send as text.
    public func number(_ name: String) -> Double? {
        if let number = value(name, as: Double.self) { return number }
        guard let text = text(name), text.utf8.count <= 32, let number = Double(text),
            number.isFinite
        else { return nil }
        return number
    }

    /// Returns an integer, which some services send as text or with a fraction.
    public func integer(_ name: String) -> Int? {
        value(name, as: Int.self) ?? number(name).flatMap { Int(exactly: $0.rounded()) }
    }

    /// Returns a Boolean value, which some services send as 0 or 1, or as text.
    public func flag(_ name: String) -> Bool? {
        if let flag = value(name, as: Bool.self) { return flag }
        if let number = value(name, as: Int.self) { return number == 0 ? false : true }
        return switch text(name) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Returns a time in the form of RFC 3339.
    public func time(_ name: String) -> Timestamp? { text(name).flatMap { Timestamp(rfc3339: $0) } }

    /// Returns a text as a line without control characters; see ``ServiceText/line(_:atMost:)``.
    public func line(_ name: String) -> String? { ServiceText.line(text(name)) }

    /// Returns a text without control characters; see ``ServiceText/paragraphs(_:)``.
    public func paragraphs(_ name: String) -> String? { ServiceText.paragraphs(text(name)) }

    /// Returns a width or height in pixels.
    public func size(_ name: String) -> Int? { ServiceNumber.size(integer(name)) }

    /// Returns a count.
    public func count(_ name: String) -> Int? { ServiceNumber.count(integer(name)) }
}

/// An array whose invalid elements are left out.
public struct LenientList<Element: Decodable>: Decodable {
    /// The valid elements, in order.
    public let elements: [Element]
    /// True if the array has elements, and none of them is valid.
    public let isUnreadable: Bool

    /// Decodes an array. A value that is not an array is an error.
    public init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let isEmpty = values.isAtEnd
        var elements: [Element] = []
        while !values.isAtEnd {
            let value = try values.superDecoder()
            if let element = try? Element(from: value) { elements.append(element) }
        }
        self.elements = elements
        isUnreadable = elements.isEmpty && !isEmpty
    }
}
