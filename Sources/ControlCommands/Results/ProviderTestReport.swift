internal import FoundationEssentials

/// The results of the test of a plugin that have arrived so far.
struct ProviderTestReport: Renderable {
    /// A line of the test program.
    private struct Line: Decodable {
        let type: String
        var manifest: String?
        var id: String?
        var name: String?
        var section: String?
        var result: String?
        var findings: [String]?
        var note: String?
        var status: Int32?
    }

    private var plugin: Line?
    private var checks: [Line] = []
    private var end: Line?

    /// The width of the first two columns on a terminal.
    private static let (resultWidth, nameWidth) = (9, 28)

    /// Adds a line of the test program.
    ///
    /// - Returns: The text for users; nil if there is none.
    /// - Throws: `DecodingError` if the line does not have the format of the program.
    mutating func add(_ bytes: [UInt8], _ target: OutputTarget) throws -> String? {
        let line = try JSONDecoder().decode(Line.self, from: Data(bytes))
        switch line.type {
        case "plugin":
            plugin = line
            guard case .terminal = target else { return nil }
            let id = line.id ?? ""
            let title = line.name.map { "\($0) (\(id))" } ?? id
            return target.styled(TerminalText.line(title), .heading) + "\n"
        case "check":
            checks.append(line)
            return Self.text(line, target)
        case "end":
            end = line
            return nil
        default: return nil
        }
    }

    /// The exit status of the command.
    var status: ProgramStatus {
        end?.status.map { ProgramStatus(rawValue: $0) ?? .failed } ?? .failed
    }

    /// The numbers of results in one sentence.
    var summary: String? {
        guard !checks.isEmpty else { return nil }
        let counts = ["passed", "warning", "failed", "skipped"].compactMap { result -> String? in
            let count = checks.count { $0.result == result }
            let name = result == "warning" && count > 1 ? "warnings" : result
            return count > 0 ? "\(count) \(name)" : nil
        }
        let hasFindings = checks.contains { $0.result == "failed" || $0.result == "warning" }
        return counts.joined(separator: ", ")
            + (hasFindings ? "; the rules are in imagefeed-providers(7)." : ".")
    }

    private static func text(_ check: Line, _ target: OutputTarget) -> String {
        let (name, note) = (
            TerminalText.line(check.name ?? ""), TerminalText.line(check.note ?? "")
        )
        let section = check.section ?? ""
        let result = check.result ?? ""
        let findings = (check.findings ?? []).map(TerminalText.line)
        guard case .terminal(let columns, _) = target else {
            return (findings.isEmpty ? [note] : findings).map { text in
                [result, name, section, text].joined(separator: "\t") + "\n"
            }.joined()
        }
        let style: TextStyle =
            switch result {
            case "passed": .good
            case "warning": .warning
            case "failed": .bad
            default: .faint
            }
        let fact = findings.isEmpty ? note : section
        let padded =
            name.displayWidth < nameWidth
            ? name + String(repeating: " ", count: nameWidth - name.displayWidth) : name + "  "
        let used = resultWidth + padded.displayWidth
        var text =
            target.styled(result, style)
            + String(repeating: " ", count: max(1, resultWidth - result.count))
            + (fact.isEmpty
                ? name : padded + target.styled(fact.truncated(to: max(1, columns - used)), .faint))
            + "\n"
        let indent = String(repeating: " ", count: resultWidth)
        for finding in findings {
            for line in finding.wrapped(to: max(20, columns - resultWidth)) {
                text += indent + line + "\n"
            }
        }
        return text
    }

    // MARK: Renderable

    var json: JSON {
        let result = status == .done ? "passed" : status == .failed ? "failed" : "inconclusive"
        return .object([
            .init("manifest", .string(plugin?.manifest ?? "")),
            .init("id", .string(plugin?.id ?? "")),
            .init("name", plugin?.name.map { .string($0) } ?? .null),
            .init("result", .string(result)),
            .init("checks", .array(checks.map(Self.json))),
        ])
    }

    private static func json(_ check: Line) -> JSON {
        .object([
            .init("name", .string(check.name ?? "")),
            .init("section", .string(check.section ?? "")),
            .init("result", .string(check.result ?? "")),
            .init("findings", .array((check.findings ?? []).map { .string($0) })),
            .init("note", .string(check.note ?? "")),
        ])
    }

    func text(for target: OutputTarget) -> String {
        checks.map { Self.text($0, target) }.joined()
    }
}
