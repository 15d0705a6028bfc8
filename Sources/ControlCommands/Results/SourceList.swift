internal import BusAPI
internal import DBus

/// The list of an account's sources.
struct SourceList: Renderable {
    let sources: [[String: Variant]]
    let defaultSource: String?

    var json: JSON { .array(sources.map { JSON($0, order: PropertyOrder.source) }) }

    func text(for target: OutputTarget) -> String {
        let table = Table(
            columns: [
                .init(title: ""),
                .init(title: "SOURCE"),
                .init(title: "KIND", dropRank: 2),
                .init(title: "PHOTOS", dropRank: 1, isNumber: true),
                .init(title: "TITLE", minimumWidth: 8, dropRank: 3),
            ],
            rows: sources.map { source in
                let id = source[source: .id]?.string ?? ""
                return [
                    Cell(id == defaultSource ? "*" : "", .heading), Cell(id),
                    Cell(source[source: .kind]?.string ?? "", .faint),
                    Cell(source[source: .count]?.uint32.map(String.init) ?? ""),
                    Cell(source[source: .title]?.string ?? ""),
                ]
            })
        return table.text(for: target)
    }
}

extension [String: Variant] {
    subscript(source key: SourceKey) -> Variant? { self[key.rawValue] }
    subscript(photo key: PhotoKey) -> Variant? { self[key.rawValue] }
}
