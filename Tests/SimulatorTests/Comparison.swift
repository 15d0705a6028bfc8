import JSONFormat
import TestSupport

extension LoopbackClient.Response {
    var json: JSON { get throws { try JSON(parsing: body) } }
}

extension JSON {
    /// Returns the paths of members that another value lacks, or has with another type. null matches any type; the first
    /// elements of arrays are compared.
    func missing(in other: JSON, at path: String = "") -> [String] {
        switch (self, other) {
        case (.null, _), (_, .null): []
        case (.array(let mine), .array(let others)):
            if let mine = mine.first, let other = others.first {
                mine.missing(in: other, at: path + "[]")
            } else {
                []
            }
        case (.object(let mine), .object(let others)):
            mine.sorted { $0.name < $1.name }.flatMap { member in
                let path = "\(path).\(member.name)"
                let other = others.first { $0.name == member.name }
                return other.map { member.value.missing(in: $0.value, at: path) } ?? [path]
            }
        default:
            kind == other.kind || number != nil && other.number != nil
                ? [] : ["\(path): another type"]
        }
    }
}
