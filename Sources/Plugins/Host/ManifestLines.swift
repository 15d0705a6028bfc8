/// The lines of a manifest, for rules that `GKeyFile` does not have.
nonisolated struct ManifestLines {
    private let lines: [Substring]

    init(_ text: String) {
        // Split by scalars, because CR LF is a single Character.
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            Substring($0)
        }
    }

    /// Adds a problem if lines begin with a blank, as in a text that was copied from a manual page.
    ///
    /// - Returns: True if there is such a line.
    func checkIndentation(_ problems: inout ManifestProblems) -> Bool {
        let indented = lines.indices.filter { index in
            let line = lines[index]
            return (line.first == " " || line.first == "\t")
                && line.contains { !$0.isWhitespace }
        }
        guard let first = indented.first else { return false }
        let others = indented.count == 1 ? "begins" : "and \(indented.count - 1) more begin"
        problems.add(
            ManifestProblem("Line \(first + 1) \(others) with a blank; remove the indentation."),
            line: first + 1)
        return true
    }

    /// Adds a problem for each key that is set twice in a group.
    func checkDuplicates(_ problems: inout ManifestProblems) {
        var group = Substring()
        var known: Set<String> = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("[") {
                group = line.dropFirst().prefix { $0 != "]" }
                continue
            }
            guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            // Groups with the prefix X- are for other programs.
            guard !group.hasPrefix("X-") else { continue }
            let key = String(line[..<equals].filter { $0 != " " && $0 != "\t" })
            guard !known.insert("\(group)]\(key)").inserted else { continue }
            problems.add(
                ManifestProblem("\(key) in [\(group)] is set more than once; remove a line."),
                line: index + 1)
        }
    }
}
