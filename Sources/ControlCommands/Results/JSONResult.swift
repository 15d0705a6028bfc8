internal import JSONFormat

/// The result of a command that prints nothing to standard output without `--json`.
struct JSONResult: Renderable {
    let json: JSON

    init(_ json: JSON) { self.json = json }
    init(_ members: [JSON.Member]) { json = .object(members) }

    func text(for target: OutputTarget) -> String { "" }
}
