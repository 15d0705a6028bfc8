/// The answer of a command that does something and has nothing to show for it, except in JSON.
struct Confirmation: Renderable {
    let json: JSON

    init(_ json: JSON) { self.json = json }
    init(_ members: [JSON.Member]) { json = .object(members) }

    func text(for medium: OutputTarget) -> String { "" }
}
