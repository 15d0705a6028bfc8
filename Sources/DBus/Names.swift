internal import CDBus

/// A string with a grammar of the D-Bus specification, validated by `init`.
///
/// No code validates it again. It is safe to pass to libdbus, which aborts the process on a string that does not match
/// the grammar.
///
/// Source: D-Bus specification, "Valid Names" and "Valid Object Paths".
nonisolated package protocol BusGrammar: Hashable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
where StringLiteralType == String {
    /// The term for this kind of string in error messages: "bus name".
    static var noun: String { get }

    /// The string in the form in which it is sent.
    var text: String { get }

    /// Returns true if `text` matches the grammar.
    static func matches(_ text: String) -> Bool

    /// Wraps a string that is known to obey the grammar.
    init(unchecked text: String)
}

nonisolated extension BusGrammar {
    /// Checks `text` against the grammar.
    ///
    /// - Throws: ``BusError/invalidName(_:_:)`` if it does not match.
    package init(_ text: String) throws(BusError) {
        guard Self.matches(text) else { throw .invalidName(Self.noun, text) }
        self.init(unchecked: text)
    }

    /// Creates a name from a literal. An invalid literal is a programming error and traps.
    package init(stringLiteral text: String) {
        precondition(Self.matches(text), "\"\(text)\" is no \(Self.noun)")
        self.init(unchecked: text)
    }

    package var description: String { text }
}

/// The path of an object: `/org/imagefeed/ImageFeed1`. D-Bus type `o`.
nonisolated package struct ObjectPath: BusGrammar {
    package static let noun = "object path"
    package static let root: ObjectPath = "/"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_validate_path) }

    /// Returns the path with one more element, which must consist of letters, digits and underscores.
    package func appending(_ element: String) -> ObjectPath {
        let path = text == "/" ? "/\(element)" : "\(text)/\(element)"
        precondition(
            !element.isEmpty && !element.utf8.contains(UInt8(ascii: "/")) && Self.matches(path),
            "\"\(element)\" is no element of an object path")
        return ObjectPath(unchecked: path)
    }

    /// Returns the elements below `ancestor`; nil if this path is not below it.
    package func elements(below ancestor: ObjectPath) -> [Substring]? {
        let prefix = ancestor == .root ? "/" : "\(ancestor.text)/"
        guard text.hasPrefix(prefix), text.utf8.count > prefix.utf8.count else { return nil }
        return text.dropFirst(prefix.count).split(separator: "/")
    }
}

/// The name of a connection: a well-known name such as `org.imagefeed.ImageFeed1`, or a unique name such as `:1.7`.
nonisolated package struct BusName: BusGrammar {
    package static let noun = "bus name"
    /// The bus itself.
    package static let bus: BusName = "org.freedesktop.DBus"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    /// True if this is a unique name, which the bus assigned to one connection for its lifetime.
    package var isUnique: Bool { text.utf8.first == UInt8(ascii: ":") }

    package static func matches(_ text: String) -> Bool {
        // libdbus also accepts unique names without a dot, and with a dot at the beginning.
        let isComplete = !text.hasPrefix(":") || text.contains(".") && !text.hasPrefix(":.")
        return isComplete && isValid(text, dbus_validate_bus_name)
    }
}

/// The name of an interface: `org.imagefeed.ImageFeed1.Feed`.
nonisolated package struct InterfaceName: BusGrammar {
    package static let noun = "interface name"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_validate_interface) }
}

/// The name of an error: `org.freedesktop.DBus.Error.InvalidArgs`.
nonisolated package struct ErrorName: BusGrammar {
    package static let noun = "error name"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_validate_error_name) }

    /// The part after the last dot: `InvalidArgs`.
    package var lastElement: String {
        text.split(separator: ".").last.map(String.init) ?? text
    }
}

/// The name of a method, signal or property: `GetPage`.
nonisolated package struct MemberName: BusGrammar {
    package static let noun = "member name"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_validate_member) }
}

/// The types of a sequence of values: `aa{sv}s`. D-Bus type `g`.
///
/// Source: D-Bus specification, "Summary of types".
nonisolated package struct Signature: BusGrammar {
    package static let noun = "signature"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_signature_validate) }
}

/// Returns true if a function of libdbus accepts `text`.
nonisolated func isValid(
    _ text: String,
    _ validate: (UnsafePointer<CChar>?, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t
) -> Bool {
    // For the function, the text ends at a NUL.
    !text.utf8.contains(0) && validate(text, nil) != 0
}
