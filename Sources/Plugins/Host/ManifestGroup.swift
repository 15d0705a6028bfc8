internal import ProviderKit

/// The keys of one group of a manifest.
nonisolated struct ManifestGroup {
    let name: String
    private let values: [String: String]

    init(_ name: String, _ groups: [String: [String: String]]) {
        self.name = name
        values = groups[name] ?? [:]
    }

    /// The value of a key; nil if it is missing or empty.
    subscript(key: String) -> String? { values[key].flatMap { $0.isEmpty ? nil : $0 } }

    /// Adds a problem for each unknown key, which may be a spelling mistake. Keys that begin with `X-` and translated
    /// keys are permitted.
    func expect(_ known: Set<String>, _ problems: inout ManifestProblems) {
        for key in values.keys.sorted() where !known.contains(key) && !key.hasPrefix("X-") {
            if let bracket = key.firstIndex(of: "["), known.contains(String(key[..<bracket])) {
                continue
            }
            problems.add(
                ManifestProblem("\(key) in [\(name)] is not a known key; check its spelling."),
                name, key)
        }
    }

    func required(_ key: String) throws(ManifestProblem) -> String {
        guard let value = self[key] else {
            throw ManifestProblem("\(key) in [\(name)] is missing.", key: key)
        }
        return value
    }

    /// Returns a text that is shown to users.
    func line(_ key: String, default standard: String? = nil) throws(ManifestProblem) -> String {
        let value: String
        if let given = self[key] ?? standard { value = given } else { value = try required(key) }
        guard value.utf8.count <= 100, ServiceText.line(value) == value else {
            throw ManifestProblem(
                "\(key) in [\(name)] must be one line of at most 100 bytes.", key: key)
        }
        return value
    }

    /// Returns a single ASCII character; nil if the key is missing.
    func character(_ key: String) throws(ManifestProblem) -> Character? {
        guard let value = self[key] else { return nil }
        guard let character = value.first, value.count == 1, character.isASCII else {
            throw ManifestProblem("\(key) in [\(name)] must be one ASCII character.", key: key)
        }
        return character
    }

    func flag(_ key: String) throws(ManifestProblem) -> Bool {
        switch self[key] {
        case "true": return true
        case "false", nil: return false
        default: throw ManifestProblem("\(key) in [\(name)] must be true or false.", key: key)
        }
    }

    /// Returns the values of a list, which are separated by semicolons.
    func list(_ key: String, required isRequired: Bool) throws(ManifestProblem) -> [String] {
        let items = (self[key] ?? "").split(separator: ";").map(String.init)
        guard !items.isEmpty || !isRequired else {
            throw ManifestProblem("\(key) in [\(name)] is missing.", key: key)
        }
        guard items.count <= 100, items.allSatisfy({ ServiceText.line($0) == $0 }) else {
            throw ManifestProblem(
                "\(key) in [\(name)] must be a list of at most 100 values.", key: key)
        }
        return items
    }
}
