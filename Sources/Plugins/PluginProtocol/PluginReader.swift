package import JSONFormat
package import ProviderKit

/// An error in a message of the other process, or in the manifest of a plugin. That in a message is for the log; users
/// see a shorter message.
package struct PluginFault: Error, Hashable, CustomStringConvertible {
    package let description: String

    /// Creates an error.
    ///
    /// - Parameter description: The description, which may quote the other process. It is cleaned and shortened.
    package init(_ description: String) {
        self.description = ServiceText.message(description) ?? ""
    }
}

/// A validating reader of the members of a JSON object of the other process.
///
/// Unknown members are ignored, so that later versions can add members.
package struct PluginReader {
    package let value: JSON
    /// The name of the object in a ``PluginFault``: `page.photos[3]`.
    package let path: String

    /// Creates a reader.
    package init(_ value: JSON, _ path: String) {
        self.value = value
        self.path = path
    }

    /// Returns the content of a member; nil if the member is missing. It is an error if `read` returns nil, because the
    /// value has another type than the wanted one.
    private func content<Content>(
        _ key: String, _ wanted: String, _ read: (JSON) -> Content?
    ) throws(PluginFault) -> Content? {
        guard let value = value[key] else { return nil }
        guard let content = read(value) else {
            throw PluginFault("\(path).\(key) is \(value.kind), not \(wanted)")
        }
        return content
    }

    /// Returns the error for a missing member.
    package func missing(_ key: String) -> PluginFault { PluginFault("\(path).\(key) is missing") }

    /// Throws an error unless the value is an object.
    package func expectObject() throws(PluginFault) {
        guard case .object = value else {
            throw PluginFault("\(path) is \(value.kind), not an object")
        }
    }

    /// Returns a string as sent by the other process, for values that are validated and never shown. Use ``line(_:)``,
    /// ``paragraphs(_:)`` or ``message(_:)`` for text that is shown.
    package func text(_ key: String) throws(PluginFault) -> String? {
        try content(key, "a string") { $0.string }
    }

    /// Returns a text on one line; see ``ServiceText/line(_:atMost:)``.
    func line(_ key: String) throws(PluginFault) -> String? { ServiceText.line(try text(key)) }

    /// Returns a text with its lines; see ``ServiceText/paragraphs(_:)``.
    func paragraphs(_ key: String) throws(PluginFault) -> String? {
        ServiceText.paragraphs(try text(key))
    }

    /// Returns a reason or a log message; see ``ServiceText/message(_:)``.
    func message(_ key: String) throws(PluginFault) -> String? {
        ServiceText.message(try text(key))
    }

    /// Returns a member; a missing one is an error.
    ///
    /// - Parameters:
    ///   - key: The key of the member.
    ///   - read: The method of this reader for the type of the member.
    /// - Returns: The result of `read`.
    /// - Throws: ``PluginFault``.
    package func required<Value>(
        _ key: String, _ read: (String) throws(PluginFault) -> Value?
    ) throws(PluginFault) -> Value {
        guard let value = try read(key) else { throw missing(key) }
        return value
    }

    /// Returns a string; a missing member is an error.
    package func requiredText(_ key: String) throws(PluginFault) -> String {
        try required(key, text)
    }

    /// Returns a Boolean value; nil if the member is missing.
    package func flag(_ key: String) throws(PluginFault) -> Bool? {
        try content(key, "a boolean") { value -> Bool? in
            if case .bool(let flag) = value { flag } else { nil }
        }
    }

    /// Returns an integer; nil if the member is missing. 3.0 is accepted.
    package func integer(_ key: String) throws(PluginFault) -> Int64? {
        // Languages with one kind of number write 3 as 3.0.
        try content(key, "an integer") { $0.integer ?? $0.number.flatMap { Int64(exactly: $0) } }
    }

    /// Returns a number; nil if the member is missing.
    func number(_ key: String) throws(PluginFault) -> Double? {
        try content(key, "a number") { $0.number }
    }

    /// Returns a number from 0 to 2³¹ - 1; nil if the member is missing.
    package func count(_ key: String) throws(PluginFault) -> Int? {
        guard let number = try integer(key) else { return nil }
        guard let count = Int32(exactly: number), count >= 0 else {
            throw PluginFault("\(path).\(key) is \(number), not a number from 0 to 2147483647")
        }
        return Int(count)
    }

    /// Returns a time in seconds since 1970, in the years 1 to 9999; nil if the member is missing.
    package func time(_ key: String) throws(PluginFault) -> Timestamp? {
        guard let seconds = try integer(key) else { return nil }
        guard Self.times.contains(seconds) else {
            throw PluginFault("\(path).\(key) is \(seconds), not a time in the years 1 to 9999")
        }
        return Timestamp(secondsSince1970: seconds)
    }

    /// The times in the years 1 to 9999, in seconds since 1970.
    private static let times: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Returns the end of a limit; nil if the member is missing, or out of range, such as a time in milliseconds. A
    /// fraction is rounded up.
    func validTime(_ key: String) throws(PluginFault) -> Timestamp? {
        guard let number = try number(key), let seconds = Int64(exactly: number.rounded(.up)),
            Self.times.contains(seconds)
        else { return nil }
        return Timestamp(secondsSince1970: seconds)
    }

    /// Returns a reader of an object; a missing member is an error.
    package func object(_ key: String) throws(PluginFault) -> PluginReader {
        guard let value = value[key] else { throw missing(key) }
        let reader = PluginReader(value, "\(path).\(key)")
        try reader.expectObject()
        return reader
    }

    /// Returns readers of the elements of an array; none if the member is missing.
    package func elements(_ key: String, atMost limit: Int) throws(PluginFault) -> [PluginReader] {
        let found = try content(key, "an array") { value -> [JSON]? in
            if case .array(let elements) = value { elements } else { nil }
        }
        guard let elements = found else { return [] }
        guard elements.count <= limit else {
            throw PluginFault("\(path).\(key) has \(elements.count) elements, more than \(limit)")
        }
        return elements.enumerated().map { PluginReader($1, "\(path).\(key)[\($0)]") }
    }
}
