/// A list of names and values, one pair per line.
struct DetailList {
    let details: [(name: String, value: Cell)]

    /// Returns the list: with aligned and wrapped values on a terminal, as `name TAB value` in a pipe.
    func text(for target: OutputTarget) -> String {
        guard case .terminal(let columns, _) = target else {
            return details.map { "\($0.name)\t\($0.value.text)\n" }.joined()
        }
        let indent = (details.map(\.name.displayWidth).max() ?? 0) + Layout.gap
        return details.map { name, value in
            let lines = value.text.wrapped(to: max(10, columns - indent))
            let padding = String(repeating: " ", count: indent - name.displayWidth)
            let margin = "\n" + String(repeating: " ", count: indent)
            return target.styled(name, .heading) + padding
                + lines.map { target.styled($0, value.style) }.joined(separator: margin) + "\n"
        }.joined()
    }
}
