internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

/// The slideshows, the default one first.
struct SlideshowList: Renderable {
    let slideshows: [SlideshowProperties]

    var json: JSON {
        .array(
            slideshows.map { slideshow in
                guard
                    case .object(let members) = JSON(
                        slideshow.properties, order: PropertyOrder.slideshow)
                else { return .null }
                return .object([.init("Name", .string(slideshow.name))] + members)
            })
    }

    func text(for target: OutputTarget) -> String {
        let rows = slideshows.map { slideshow in
            [
                Cell(slideshow.name.isEmpty ? target.tr("(default)") : slideshow.name),
                Cell(slideshow.sources.joined(separator: " ")),
                Cell(slideshow.photo?.caption ?? ""),
            ]
        }
        return Table(
            columns: [
                .init(title: tr("NAME")), .init(title: tr("SOURCES"), minimumWidth: 12),
                .init(title: tr("PHOTO"), minimumWidth: 12, dropRank: 1),
            ], rows: rows
        ).text(for: target)
    }
}
