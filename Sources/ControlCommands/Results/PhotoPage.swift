internal import BusAPI
internal import DBus

/// Photos of a feed, and where the next ones begin.
struct PhotoPage: Renderable {
    var photos: [[String: Variant]]
    /// Empty at the end.
    var next: String

    var json: JSON {
        .object([
            .init("photos", .array(photos.map { JSON($0, order: PropertyOrder.photo) })),
            .init("next", .string(next)),
        ])
    }

    func text(for medium: OutputTarget) -> String { table.text(for: medium) }

    var table: Table {
        Table(
            columns: [
                .init(title: "PHOTO"),
                .init(title: "CREATED", dropped: 2),
                .init(title: "SIZE", dropped: 5, isNumber: true),
                .init(title: "LIKES", dropped: 4, isNumber: true),
                // Wide enough to tell photos apart, and not too wide for 40 columns.
                .init(title: "TITLE", minimum: 12, dropped: 1),
                .init(title: "AUTHOR", minimum: 8, dropped: 3),
            ],
            rows: photos.map { photo in
                [
                    Cell(photo.reference), Cell(photo.created, .faint), Cell(photo.size, .faint),
                    Cell(photo.likesText), Cell(photo.caption),
                    Cell(photo[photo: .author]?.string ?? ""),
                ]
            })
    }
}

/// A feed whose pages are printed as they come, as one table.
struct FeedListing {
    let medium: OutputTarget
    private var layout: Layout?

    init(medium: OutputTarget) { self.medium = medium }

    /// The next lines, laid out like those before unless an identifier is too wide for that; then there is
    /// a new heading.
    mutating func text(of page: PhotoPage) -> String {
        guard case .terminal(let columns, _) = medium, !page.photos.isEmpty else {
            return page.text(for: medium)
        }
        let table = page.table
        if let layout, table.fits(layout) {
            return table.text(for: medium, layout, hasHeading: false)
        }
        let layout = table.layout(columns)
        self.layout = layout
        return table.text(for: medium, layout, hasHeading: true)
    }
}

extension [String: Variant] {
    /// `ACCOUNT/ID`, which every command takes.
    var reference: String {
        let account = self[photo: .account]?.objectPath.map(AccountRecord.id) ?? ""
        return "\(account)/\(self[photo: .id]?.string ?? "")"
    }

    fileprivate var created: String {
        self[photo: .created]?.int64.map { Timestamp($0).minute } ?? ""
    }

    fileprivate var size: String {
        guard let width = self[photo: .width]?.uint32, let height = self[photo: .height]?.uint32
        else {
            return ""
        }
        return "\(width)×\(height)"
    }

    /// How many like it; ♥ for one's own, ♡ while that is on its way.
    fileprivate var likesText: String {
        let mark =
            self[photo: .pending]?.bool == true ? "♡" : self[photo: .liked]?.bool == true ? "♥" : ""
        let count = self[photo: .likes]?.uint32.map(String.init) ?? ""
        return [mark, count].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The title, or in its place what the photo shows.
    var caption: String {
        let title = self[photo: .title]?.string ?? ""
        return title.isEmpty ? self[photo: .description]?.string ?? "" : title
    }
}
