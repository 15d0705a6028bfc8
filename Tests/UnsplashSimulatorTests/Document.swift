import FoundationEssentials

/// A JSON value.
enum Document: Equatable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Document])
    case object([String: Document])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Document].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Document].self))
        }
    }

    /// Decodes a recorded response.
    init(recording name: String) throws {
        let text = try recording(name + ".json")
        self = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    }

    subscript(name: String) -> Document? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// Returns the paths of members that another document lacks, or has with another type. null matches any type; the
    /// first elements of arrays are compared.
    func missing(in other: Document, at path: String = "") -> [String] {
        switch (self, other) {
        case (.null, _), (_, .null), (.bool, .bool), (.number, .number), (.string, .string): []
        case (.array(let mine), .array(let others)):
            if let mine = mine.first, let other = others.first {
                mine.missing(in: other, at: path + "[]")
            } else {
                []
            }
        case (.object(let mine), .object(let others)):
            mine.sorted { $0.key < $1.key }.flatMap { name, value in
                others[name].map { value.missing(in: $0, at: "\(path).\(name)") }
                    ?? ["\(path).\(name)"]
            }
        default: ["\(path): another type"]
        }
    }
}

/// Returns a recorded response of the real service or its header fields, from the tests of the provider.
func recording(_ file: String) throws -> String {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(
        contentsOf: tests.appending(path: "UnsplashProviderTests/Recordings/\(file)"),
        encoding: .utf8)
}
