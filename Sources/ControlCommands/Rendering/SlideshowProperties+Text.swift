internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

/// The output of a slideshow is its current photo and its settings.
extension SlideshowProperties: Renderable {
    var json: JSON { JSON(properties, of: .slideshow) }

    func text(for target: OutputTarget) -> String {
        let photo = photo
        let details: [(name: String, value: String)] = [
            (target.tr("Photo"), photo?.id ?? ""),
            (target.tr("Title"), photo?.caption ?? ""),
            (target.tr("Author"), photo?.author ?? ""),
            // Translators: the path of the image file of the current photo.
            (target.tr("Image"), image),
            (target.tr("Paused"), target.word(isPaused ? "yes" : "no")),
            // Translators: the time per photo.
            (target.tr("Interval"), SlideshowSetCommand.text(ofInterval: interval)),
            // Translators: yes if the photos have a random order.
            (target.tr("Shuffle"), target.word(isShuffled ? "yes" : "no")),
        ]
        let sources = sources.map { (target.tr("Source"), $0) }
        let others = [
            // Translators: the form of the photos: landscape or portrait.
            (target.tr("Orientation"), orientation),
            (target.tr("ImageSize"), imageSize),
            // Translators: the photos that are excluded from the slideshow.
            (target.tr("Hidden"), hidden.joined(separator: " ")),
        ]
        return target.details(details + sources + others)
    }
}

/// The slideshows, the default one first.
struct SlideshowList: Renderable {
    let slideshows: [SlideshowProperties]
    /// The shortest references to accounts; see `DaemonMirror.shortIDs`.
    let shortIDs: [String: String]

    var json: JSON {
        .array(
            slideshows.map { slideshow in
                .object(
                    [.init("Name", .string(slideshow.name))]
                        + JSON.members(
                            slideshow.properties, order: InterfaceName.slideshow.properties))
            })
    }

    func text(for target: OutputTarget) -> String {
        Table(
            slideshows,
            columns: [
                .init(title: tr("NAME")) {
                    Cell($0.name.isEmpty ? target.tr("(default)") : $0.name)
                },
                .init(title: tr("SOURCES"), minimumWidth: 12) {
                    Cell(sources(of: $0, for: target))
                },
                .init(title: tr("PHOTO"), minimumWidth: 12, dropRank: 1) {
                    Cell($0.photo?.caption ?? "")
                },
            ]
        ).text(for: target)
    }

    /// Returns the sources of a slideshow. The names of albums contain spaces.
    private func sources(of slideshow: SlideshowProperties, for target: OutputTarget) -> String {
        slideshow.sources.map { source in
            let account = source.prefix { $0 != ":" }
            let short = target == .pipe ? nil : shortIDs[String(account)]
            return (short ?? String(account)) + source[account.endIndex...]
        }.joined(separator: ", ")
    }
}

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
        guard case .terminal(let columns, _) = target else { return TerminalText.fields(fields) }
        let title = fields[1].truncated(
            to: max(12, columns - fields[0].displayWidth - VisibleColumn.gap))
        return fields[0] + (title.isEmpty ? "" : "  \(title)") + "\n"
    }
}
