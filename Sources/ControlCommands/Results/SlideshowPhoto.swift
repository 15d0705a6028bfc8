internal import Contract
internal import DBus
internal import JSONFormat

/// The current photo of the slideshow, with the path of its image.
struct SlideshowPhoto: Renderable, Equatable {
    /// The photo, with its ID of the combined account; nil if there is none.
    let photo: PhotoEntry?
    /// The path of its image; empty if there is none.
    let path: String

    init(_ slideshow: SlideshowProperties) {
        photo = slideshow.photo
        path = slideshow.image
    }

    var id: String { photo?.id ?? "" }

    /// The photo with the key `path`; an empty object if there is no photo.
    var json: JSON {
        guard let photo, case .object(let members) = photo.json else { return .object([]) }
        return .object(members + [.init("path", .string(path))])
    }

    func text(for target: OutputTarget) -> String {
        let fields = [id, photo?.caption ?? ""].map(TerminalText.line)
        guard case .terminal(let columns, _) = target else {
            return fields.joined(separator: "\t") + "\n"
        }
        let title = fields[1].truncated(to: max(12, columns - fields[0].displayWidth - Layout.gap))
        return fields[0] + (title.isEmpty ? "" : "  \(title)") + "\n"
    }
}
