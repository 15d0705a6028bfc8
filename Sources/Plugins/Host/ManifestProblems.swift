internal import ProviderKit

/// A problem of a manifest: one sentence for its author.
nonisolated struct ManifestProblem: Error, Hashable, CustomStringConvertible {
    let description: String
    /// The number of the line that the problem concerns, from 1; nil if it concerns no line.
    let line: Int?

    /// Creates a problem from a sentence that may quote the manifest.
    init(_ description: String, line: Int? = nil) {
        self.description = ServiceText.message(description) ?? ""
        self.line = line
    }
}

/// The problems of a manifest, in the order in which they are found.
nonisolated final class ManifestProblems {
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
    ///   - problem: A sentence that may quote the manifest.
    ///   - group: The group that the problem concerns.
    ///   - key: The key in the group that the problem concerns. Without such a line, the problem concerns the heading.
    ///   - line: The line, if it is known.
    func add(
        _ problem: @autoclosure () -> String, _ group: String = "", _ key: String? = nil,
        line: Int? = nil
    ) {
        guard all.count < Self.maximum else { return }
        let known = [key ?? "", ""].lazy.compactMap { [lines] key in
            lines.numbers[ManifestLines.Place(group: group, key: key)]
        }
        all.append(ManifestProblem(problem(), line: line ?? known.first))
    }

    /// Evaluates a part of the manifest, and adds its problem.
    ///
    /// - Returns: The part; nil if it has a problem.
    func check<Value>(
        _ group: String, _ key: String? = nil, _ body: () throws(ManifestProblem) -> Value
    ) -> Value? {
        do throws(ManifestProblem) {
            return try body()
        } catch {
            add(error.description, group, key)
            return nil
        }
    }
}
