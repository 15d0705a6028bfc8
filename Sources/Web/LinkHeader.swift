/// A reader of the header field `Link`, which many services use for pages.
///
/// Source: RFC 8288 §3.
public enum LinkHeader {
    /// Returns the first target of a relation.
    ///
    /// - Parameters:
    ///   - relation: The relation in lower case: `next`.
    ///   - values: The values of the field: `response.headers.all("Link")`. The rest of a value after a syntax error is
    ///     ignored.
    /// - Returns: The target as written, which may be relative; nil if there is none.
    public static func target(_ relation: String, in values: [String]) -> String? {
        for value in values {
            var rest = Substring(value)
            while let link = popLink(&rest) {
                if link.relations.contains(relation) { return link.target }
            }
        }
        return nil
    }

    /// Removes `<address>; name=value; name="value"` and the commas before it from the beginning.
    private static func popLink(_ rest: inout Substring) -> (target: String, relations: [String])? {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
        guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
        let target = String(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[rest.index(after: end)...]
        var relations: [String]?
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard rest.first == ";" else { break }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { !"=;,".contains($0) }
            rest = rest[name.endIndex...]
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let value = popValue(&rest)
            // Only the first `rel` is used (§3.3).
            if name.lowercased() == "rel", relations == nil {
                relations = value.lowercased().split(separator: " ").map(String.init)
            }
        }
        return (target, relations ?? [])
    }

    /// Removes a token or a quoted string from the beginning.
    private static func popValue(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let token = rest.prefix { !";, \t".contains($0) }
            rest = rest[token.endIndex...]
            return String(token)
        }
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\" {
                if let escaped = rest.popFirst() { value.append(escaped) }
            } else {
                value.append(character)
            }
        }
        return value
    }
}
