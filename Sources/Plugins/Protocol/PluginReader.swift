package import ProviderKit

/// What somebody at the other end of a pipe got wrong. For the log; a person is told less.
package struct PluginFault: Error, Hashable, CustomStringConvertible {
    package let description: String

    /// - Parameter description: May contain text of the other end. It is cleaned and shortened.
    package init(_ description: String) {
        self.description = ServiceText.message(description) ?? ""
    }
}

/// Reads the members of an object that somebody else made, and believes nothing.
///
/// Members that are not known are passed over, so that a later version may have more.
package struct PluginReader {
    package let value: JSONValue
    /// What the object is called in a ``PluginFault``: `page.photos[3]`.
    package let path: String

    package init(_ value: JSONValue, _ path: String) {
        self.value = value
        self.path = path
    }

    private func wrong(_ key: String, _ value: JSONValue, _ wanted: String) -> PluginFault {
        PluginFault("\(path).\(key) is \(value.kind), not \(wanted)")
    }

    package func missing(_ key: String) -> PluginFault {
        PluginFault("\(path).\(key) is missing")
    }

    /// Throws unless it is an object at all.
    package func expectObject() throws(PluginFault) {
        guard case .object = value else {
            throw PluginFault("\(path) is \(value.kind), not an object")
        }
    }

    /// A string as the other end sent it: for values that are checked, and never shown. Text that is shown is read with
    /// ``line(_:)``, ``paragraphs(_:)`` or ``message(_:)``.
    package func text(_ key: String) throws(PluginFault) -> String? {
        guard let value = value[key] else { return nil }
        guard case .string(let text) = value else { throw wrong(key, value, "a string") }
        return text
    }

    /// A text on one line; see ``ServiceText/line(_:atMost:)``.
    func line(_ key: String) throws(PluginFault) -> String? { ServiceText.line(try text(key)) }

    /// A text with its lines; see ``ServiceText/paragraphs(_:)``.
    func paragraphs(_ key: String) throws(PluginFault) -> String? {
        ServiceText.paragraphs(try text(key))
    }

    /// A reason or a message for the log; see ``ServiceText/message(_:)``.
    func message(_ key: String) throws(PluginFault) -> String? {
        ServiceText.message(try text(key))
    }

    package func requiredText(_ key: String) throws(PluginFault) -> String {
        guard let text = try text(key) else { throw missing(key) }
        return text
    }

    package func flag(_ key: String) throws(PluginFault) -> Bool? {
        guard let value = value[key] else { return nil }
        guard case .bool(let flag) = value else { throw wrong(key, value, "a boolean") }
        return flag
    }

    package func integer(_ key: String) throws(PluginFault) -> Int64? {
        guard let value = value[key] else { return nil }
        switch value {
        case .integer(let number): return number
        // Languages with one kind of number write 3 as 3.0.
        case .number(let number):
            guard let integer = Int64(exactly: number) else { break }
            return integer
        default: break
        }
        throw wrong(key, value, "an integer")
    }

    /// A number of things: 0 to 2³¹ - 1.
    package func count(_ key: String) throws(PluginFault) -> Int? {
        guard let number = try integer(key) else { return nil }
        guard let count = Int32(exactly: number), count >= 0 else {
            throw PluginFault("\(path).\(key) is \(number), which is no number of things")
        }
        return Int(count)
    }

    /// A moment, in seconds since 1970: from the year 1 to 9999.
    package func time(_ key: String) throws(PluginFault) -> Timestamp? {
        guard let seconds = try integer(key) else { return nil }
        guard -62_135_596_800...253_402_300_799 ~= seconds else {
            throw PluginFault("\(path).\(key) is \(seconds), which is no time")
        }
        return Timestamp(secondsSince1970: seconds)
    }

    package func object(_ key: String) throws(PluginFault) -> PluginReader {
        guard let value = value[key] else { throw missing(key) }
        let reader = PluginReader(value, "\(path).\(key)")
        try reader.expectObject()
        return reader
    }

    /// The elements of an array; none where it is missing.
    package func elements(
        _ key: String, atMost limit: Int
    ) throws(PluginFault) -> [PluginReader] {
        guard let value = value[key] else { return [] }
        guard case .array(let elements) = value else { throw wrong(key, value, "an array") }
        guard elements.count <= limit else {
            throw PluginFault("\(path).\(key) has \(elements.count) elements, more than \(limit)")
        }
        return elements.enumerated().map { PluginReader($1, "\(path).\(key)[\($0)]") }
    }
}
