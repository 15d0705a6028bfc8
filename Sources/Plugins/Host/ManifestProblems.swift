/// The problems of a manifest, in the order in which they are found.
nonisolated struct ManifestProblems {
    /// A problem and the line that it concerns.
    struct Entry {
        let problem: ManifestProblem
        /// The number of the line, from 1; nil if the problem concerns no line.
        let line: Int?
    }

    private(set) var all: [Entry] = []
    /// The text of the file, for the line numbers.
    var text = ""

    /// Adds a problem.
    ///
    /// - Parameters:
    ///   - problem: The problem.
    ///   - group: The group that the problem concerns.
    ///   - key: The key in the group that the problem concerns.
    ///   - line: The line, if it is known.
    mutating func add(
        _ problem: ManifestProblem, _ group: String? = nil, _ key: String? = nil, line: Int? = nil
    ) {
        all.append(Entry(problem: problem, line: line ?? group.flatMap { self.line($0, key) }))
    }

    /// Evaluates a part of the manifest.
    ///
    /// - Parameters:
    ///   - group: The group of the part.
    ///   - key: The key of the part; nil for several keys.
    ///   - fallback: The value to return if the part has a problem.
    ///   - body: Reads the part.
    /// - Returns: The part, or the fallback.
    mutating func check<Value>(
        _ group: String, _ key: String?, _ fallback: Value,
        _ body: () throws(ManifestProblem) -> Value
    ) -> Value {
        do throws(ManifestProblem) {
            return try body()
        } catch {
            let line = line(group, key ?? error.key) ?? (key == nil ? line(group, nil) : nil)
            add(error, line: line)
            return fallback
        }
    }

    /// Returns the line of a key, or of the heading of the group if `key` is nil; nil if there is no such line.
    private func line(_ group: String, _ key: String?) -> Int? {
        var heading: Int?
        var isInGroup = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.hasPrefix("[") {
                isInGroup = line.hasPrefix("[\(group)]")
                if isInGroup { heading = heading ?? index + 1 }
            } else if isInGroup, let key, let equals = line.firstIndex(of: "="),
                line[..<equals].filter({ $0 != " " && $0 != "\t" }) == key
            {
                return index + 1
            }
        }
        return key == nil ? heading : nil
    }
}
