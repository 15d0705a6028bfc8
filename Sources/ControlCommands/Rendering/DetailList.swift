/// Names and values, one fact a line: everything about one thing.
struct DetailList {
    let facts: [(name: String, value: Cell)]

    /// The facts, the values in line and wrapped on a terminal, `name TAB value` in a pipe.
    func text(for medium: OutputTarget) -> String {
        guard case .terminal(let columns, _) = medium else {
            return facts.map { "\($0.name)\t\($0.value.text)\n" }.joined()
        }
        let indent = (facts.map(\.name.displayWidth).max() ?? 0) + Layout.gap
        return facts.map { name, value in
            let lines = value.text.wrapped(to: max(10, columns - indent))
            let padding = String(repeating: " ", count: indent - name.displayWidth)
            let margin = "\n" + String(repeating: " ", count: indent)
            return medium.inked(name, .heading) + padding
                + lines.map { medium.inked($0, value.ink) }.joined(separator: margin) + "\n"
        }.joined()
    }
}
