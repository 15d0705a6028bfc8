internal import JSONFormat

/// The results of the test of a plugin that have arrived so far.
struct ProviderTestReport: Renderable {
    /// The members `manifest`, `id` and `name`.
    private var plugin = JSON.null
    /// The objects with `name`, `section`, `result`, `findings` and `note`.
    private var checks: [JSON] = []
    /// The exit status of the command.
    private(set) var status = ProgramStatus.failed

    /// The width of the first two columns on a terminal.
    private static let (resultWidth, nameWidth) = (9, 28)

    /// Adds a line of the test program.
    ///
    /// - Returns: The text for users; nil if there is none.
    /// - Throws: ``JSONSyntaxError`` if the line does not have the format of the program.
    mutating func add(_ bytes: [UInt8], _ target: OutputTarget) throws -> String? {
        let line = try JSON(parsing: bytes)
        if line["section"] != nil {
            checks.append(line)
            return Self.text(line, target)
        }
        if let status = line["status"]?.integer {
            self.status = ProgramStatus(rawValue: Int32(status)) ?? .failed
            return nil
        }
        plugin = line
        guard case .terminal = target, let id = line["id"]?.string else { return nil }
        let title = line["name"]?.string.map { "\($0) (\(id))" } ?? id
        return target.styled(TerminalText.line(title), .heading) + "\n"
    }

    /// The numbers of results in one sentence.
    var summary: String? {
        guard !checks.isEmpty else { return nil }
        let counts = ["passed", "warning", "failed", "skipped"].compactMap { result -> String? in
            let count = checks.count { $0["result"]?.string == result }
            let name = result == "warning" && count > 1 ? "warnings" : result
            return count > 0 ? "\(count) \(name)" : nil
        }
        let hasFindings = checks.contains {
            ["failed", "warning"].contains($0["result"]?.string)
        }
        return counts.joined(separator: ", ")
            + (hasFindings ? "; the rules are in imagefeed-providers(7)." : ".")
    }

    private static func text(_ check: JSON, _ target: OutputTarget) -> String {
        let member = { (key: String) in TerminalText.line(check[key]?.string ?? "") }
        let (name, note, section) = (member("name"), member("note"), member("section"))
        let result = member("result")
        let findings = (check["findings"]?.elements ?? []).map {
            TerminalText.line($0.string ?? "")
        }
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
            .init("manifest", plugin["manifest"] ?? .null), .init("id", plugin["id"] ?? .null),
            .init("name", plugin["name"] ?? .null), .init("result", .string(result)),
            .init("checks", .array(checks)),
        ])
    }

    func text(for target: OutputTarget) -> String {
        checks.map { Self.text($0, target) }.joined()
    }
}
