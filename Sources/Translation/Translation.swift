internal import Glibc

/// A text in the language of the user.
///
///     tr("There are no photos.")
///     tr("{server} does not answer.", ["server": name])
///
/// - Parameters:
///   - text: A literal in English. The names in braces stand for the values, in any order. `dist/translate` collects
///     these literals.
///   - values: The values by their names. They are inserted as they are.
/// - Returns: The text of the catalog, or the literal if the catalog has none.
public func tr(_ text: StaticString, _ values: KeyValuePairs<String, String> = [:]) -> String {
    filled(Catalog.text("\(text)")) { name in values.first { $0.key == name }?.value }
}

/// A text about a number of things, in the language of the user.
///
///     trn("{count} photo", "{count} photos", photos.count)
///
/// - Parameters:
///   - singular: A literal in English for one.
///   - plural: A literal in English for another number. Other languages have up to six forms.
///   - count: The number. It is inserted for `{count}` unless there is a value with this name.
///   - values: The other values by their names.
/// - Returns: The form of the catalog for the number.
public func trn(
    _ singular: StaticString, _ plural: StaticString, _ count: Int,
    _ values: KeyValuePairs<String, String> = [:]
) -> String {
    filled(Catalog.text(singular, plural, count)) { name in
        values.first { $0.key == name }?.value ?? (name == "count" ? text(ofNumber: count) : nil)
    }
}

/// Returns a number with the separators of the locale that the program has set; without one, its digits.
package func text(ofNumber number: Int) -> String {
    let separator = String(cString: localeconv().pointee.thousands_sep)
    let digits = Array("\(number)")
    return digits.indices.reduce(into: "") { text, index in
        if index > 0, (digits.count - index) % 3 == 0 { text += separator }
        text.append(digits[index])
    }
}

/// A text with values in place of the names in braces, in one pass: a value with braces stays as it is.
func filled(_ text: String, value: (Substring) -> String?) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
        let name = rest[rest.index(after: start)..<end]
        result += rest[..<start]
        result += value(name) ?? String(rest[start...end])
        rest = rest[rest.index(after: end)...]
    }
    return result + rest
}

/// True if the user reads another language than that of the source.
public var isTextTranslated: Bool { Catalog.isTranslated }
