internal import BusAPI
internal import DBus

/// The slideshows, the default one first.
struct SlideshowList: Renderable {
    let slideshows: [(path: ObjectPath, record: SlideshowRecord)]

    /// Returns the name of a slideshow; empty for the default one.
    private static func name(_ path: ObjectPath) -> String {
        path == ServiceName.slideshow ? "" : AccountRecord.id(of: path)
    }

    var json: JSON {
        .array(
            slideshows.map { path, record in
                guard
                    case .object(let members) = JSON(
                        record.properties, order: PropertyOrder.slideshow)
                else { return .null }
                return .object([.init("Name", .string(Self.name(path)))] + members)
            })
    }

    func text(for target: OutputTarget) -> String {
        let rows = slideshows.map { path, record in
            let name = Self.name(path)
            return [
                Cell(name.isEmpty ? "(default)" : name),
                Cell(record.sources.joined(separator: " ")),
                Cell(record.photo.caption),
            ]
        }
        return Table(
            columns: [
                .init(title: "NAME"), .init(title: "SOURCES", minimumWidth: 12),
                .init(title: "PHOTO", minimumWidth: 12, dropRank: 1),
            ], rows: rows
        ).text(for: target)
    }
}
