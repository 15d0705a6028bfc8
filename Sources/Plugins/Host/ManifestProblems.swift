/// The problems of a manifest, in the order in which they are found.
nonisolated struct ManifestProblems {
    /// The number of problems that are reported.
    static let maximum = 20

    private(set) var all: [ManifestProblem] = []
    /// The lines of the file, for their numbers.
    var lines = ManifestLines("")
    /// The state of the files and folders that the problems may concern.
    var stamp = FileStamps([])

    /// Adds a problem, unless there are enough.
    ///
    /// - Parameters:
    ///   - problem: The problem.
    ///   - group: The group that the problem concerns.
    ///   - key: The key in the group that the problem concerns.
    ///   - line: The line, if it is known.
    mutating func add(
        _ problem: @autoclosure () -> ManifestProblem, _ group: String? = nil,
        _ key: String? = nil, line: Int? = nil
    ) {
        guard all.count < Self.maximum else { return }
        var problem = problem()
        problem.line = line ?? group.flatMap { self.line($0, key) }
        all.append(problem)
    }

    /// Evaluates a part of the manifest.
    ///
    /// - Parameters:
    ///   - group: The group of the part.
    ///   - key: The key of the part; nil for several keys.
    ///   - fallback: The value to return if the part has a problem.
    ///   - body: The part.
    /// - Returns: The part, or the fallback.
    mutating func check<Value>(
        _ group: String, _ key: String?, _ fallback: Value,
        _ body: @autoclosure () throws(ManifestProblem) -> Value
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
        lines.numbers[ManifestLines.Place(group: group, key: key ?? "")]
    }
}
