/// The types of a sequence of values: `aa{sv}s`. D-Bus type `g`.
///
/// Source: D-Bus specification, "Summary of types".
nonisolated package struct Signature: BusGrammar {
    package static let noun = "signature"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ utf8: String.UTF8View) -> Bool {
        guard utf8.count <= 255 else { return false }
        var rest = utf8[...]
        while !rest.isEmpty {
            guard skipCompleteType(&rest) else { return false }
        }
        return true
    }

    /// Removes one complete type from the front of `rest`.
    ///
    /// As in libdbus, arrays and structs may be nested up to 32 levels each; a dictionary entry counts as its array.
    ///
    /// - Returns: False if there is no valid type.
    private static func skipCompleteType(
        _ rest: inout Substring.UTF8View, arrays: Int = 0, structs: Int = 0
    ) -> Bool {
        guard let code = rest.popFirst(), arrays <= 32, structs <= 32 else { return false }
        switch code {
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else {
                return skipCompleteType(&rest, arrays: arrays + 1, structs: structs)
            }
            rest.removeFirst()
            // An entry is inside its array, which is counted.
            guard let key = rest.popFirst(), basicTypes.contains(key) else { return false }
            return skipCompleteType(&rest, arrays: arrays + 1, structs: structs)
                && rest.popFirst() == UInt8(ascii: "}")
        case UInt8(ascii: "("):
            repeat {
                guard skipCompleteType(&rest, arrays: arrays, structs: structs + 1) else {
                    return false
                }
            } while rest.first != UInt8(ascii: ")")
            rest.removeFirst()
            return true
        case UInt8(ascii: "v"):
            return true
        default:
            return basicTypes.contains(code)
        }
    }

    private static let basicTypes = Set("ybnqiuxtdsogh".utf8)
}
