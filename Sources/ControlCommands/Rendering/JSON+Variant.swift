internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit

extension JSON {
    /// Creates an object from the properties of an interface, in the order of its documentation.
    init(_ properties: [String: Variant], of interface: InterfaceName) {
        self = .object(Self.members(properties, order: interface.properties))
    }

    /// Returns the members of an object for a dictionary of the type `a{sv}`.
    ///
    /// - Parameters:
    ///   - values: The dictionary.
    ///   - order: The order of the first keys. Other keys follow, sorted by name.
    /// - Returns: The members.
    static func members(_ values: [String: Variant], order: [String]) -> [Member] {
        let known = order.filter { values[$0] != nil }
        let others = values.keys.filter { !order.contains($0) }.sorted()
        return (known + others).compactMap { key in values[key].map { Member(key, JSON($0)) } }
    }

    /// The JSON text on one line, without a line feed at the end.
    ///
    /// The text may appear on a terminal. The characters that are unwanted there occur in strings only, and are escaped.
    var text: String {
        var text = ""
        for scalar in String(decoding: line.dropLast(), as: UTF8.self).unicodeScalars {
            if !ServiceText.isPermitted(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
