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

    /// Returns true if `utf8` matches the grammar.
    static func matches(_ utf8: String.UTF8View) -> Bool

    /// Wraps a string that is known to obey the grammar.
    init(unchecked text: String)
}

nonisolated extension BusGrammar {
    /// Checks `text` against the grammar.
    ///
    /// - Throws: ``BusError/invalidName(_:_:)`` if it does not match.
    package init(_ text: String) throws(BusError) {
        guard Self.matches(text.utf8) else { throw .invalidName(Self.noun, text) }
        self.init(unchecked: text)
    }

    /// Creates a name from a literal. An invalid literal is a programming error and traps.
    package init(stringLiteral text: String) {
        precondition(Self.matches(text.utf8), "\"\(text)\" is no \(Self.noun)")
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

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        guard utf8.first == UInt8(ascii: "/") else { return false }
        var previous = UInt8(ascii: "/")
        for byte in utf8.dropFirst() {
            if byte == UInt8(ascii: "/") {
                if previous == byte { return false }
            } else if !byte.isNameByte {
                return false
            }
            previous = byte
        }
        return utf8.count == 1 || previous != UInt8(ascii: "/")
    }

    /// Returns the path with one more element, which must consist of letters, digits and underscores.
    package func appending(_ element: String) -> ObjectPath {
        precondition(
            !element.isEmpty && element.utf8.allSatisfy(\.isNameByte),
            "\"\(element)\" is no element of an object path")
        return ObjectPath(unchecked: text == "/" ? "/\(element)" : "\(text)/\(element)")
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

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        let isUnique = utf8.first == UInt8(ascii: ":")
        return isDotted(isUnique ? utf8.dropFirst() : utf8[...], isUnique: isUnique) {
            $0.isNameByte || $0 == UInt8(ascii: "-")
        }
    }
}

/// The name of an interface: `org.imagefeed.ImageFeed1.Feed`.
nonisolated package struct InterfaceName: BusGrammar {
    package static let noun = "interface name"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        isDotted(utf8[...], isUnique: false, isAllowed: \.isNameByte)
    }
}

/// The name of an error: `org.freedesktop.DBus.Error.InvalidArgs`.
nonisolated package struct ErrorName: BusGrammar {
    package static let noun = "error name"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        InterfaceName.matches(utf8)
    }

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

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        guard let first = utf8.first, utf8.count <= 255 else { return false }
        return !first.isDigit && utf8.allSatisfy(\.isNameByte)
    }
}

/// Returns true for two or more elements joined by dots, 255 bytes at most. Only elements of unique names may begin
/// with a digit.
nonisolated private func isDotted(
    _ utf8: Substring.UTF8View.SubSequence, isUnique: Bool, isAllowed: (UInt8) -> Bool
) -> Bool {
    guard utf8.count <= 255 - (isUnique ? 1 : 0) else { return false }
    let elements = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return elements.count >= 2
        && elements.allSatisfy { element in
            guard let first = element.first else { return false }
            return (isUnique || !first.isDigit) && element.allSatisfy(isAllowed)
        }
}

nonisolated extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// A letter, a digit or an underscore.
    fileprivate var isNameByte: Bool {
        isDigit || self == UInt8(ascii: "_")
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 && self & 0x40 != 0
    }
}
