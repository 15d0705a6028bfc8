internal import System
internal import Toolkit

/// The facts of a photo.
final class InfoPanel {
    let widget: ScrollArea
    private let content = Box(.vertical, spacing: 12)
    private let likes = Label().selectable().wrapping()
    private let likesBox: Box
    private let fileBox = Box(.vertical, spacing: 12)

    init() {
        likesBox = Box(fact: "Likes", likes)
        likesBox.aligned(.fill, .start)
        content.margins(18)
        widget = ScrollArea(content)
        widget.setMinimumSize(width: 280)
        widget.styled("background")
        widget.setAccessibleName("Information about the photo")
    }

    func show(_ photo: Photo) {
        content.removeAll()
        let title = Label(photo.title.isEmpty ? "Photo" : photo.title).wrapping().selectable()
        content.append(title.styled("title-2"))
        if !photo.text.isEmpty { content.append(Label(photo.text).wrapping().selectable()) }
        if !photo.description.isEmpty, photo.description != photo.title {
            content.append(Label(photo.description).wrapping().selectable())
        }
        add("Author", photo.author, link: photo.authorURL)
        add("Licence", photo.license, link: photo.licenseURL)
        add("Date", photo.dayAndTime)
        if let (width, height) = photo.size {
            add("Size", "\u{2066}\(width) × \(height)\u{2069}")
        }
        add("Camera", photo.camera)
        add("Lens", photo.lens)
        add("Exposure", photo.exposureTime.map(Self.exposure) ?? "")
        add("Aperture", photo.aperture.map { "f/\(Self.decimal($0))" } ?? "")
        add("ISO", photo.iso.map { "\($0)" } ?? "")
        add("Album", photo.album)
        if let latitude = photo.latitude, let longitude = photo.longitude {
            add(
                "Place", "\(latitude)°, \(longitude)°",
                link:
                    "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=15/\(latitude)/\(longitude)"
            )
        }
        add("Format", photo.mediaType + (photo.isAnimated ? " (animated)" : ""))
        content.append(fileBox)
        fileBox.removeAll()
        if !photo.isFile {
            content.append(likesBox)
            update(photo)
        }
    }

    /// Adds the facts of the file of a photo on this computer.
    func show(file path: String, byteCount: Int64) {
        let path = PathBytes(path)
        let name = String(path.text.dropFirst(path.folder.text.count))
        fileBox.removeAll()
        add("File", name, to: fileBox)
        add("Folder", path.folder.text, link: FileActions.uri(path.folder.text), to: fileBox)
        add("File size", FileActions.sizeText(byteCount), to: fileBox)
    }

    /// Shows the current likes of the same photo.
    func update(_ photo: Photo) {
        let own =
            switch (photo.wantsLike, photo.isPending) {
            case (true, false): "You like this photo"
            case (true, true): "Your like is not confirmed yet"
            case (false, true): "The removal of your like is not confirmed yet"
            case (false, false): "You do not like this photo yet"
            }
        likes.text = photo.likes.map { "\($0) · \(own)" } ?? own
    }

    /// Returns a time in seconds as photographers write it.
    static func exposure(_ seconds: Double) -> String {
        seconds < 0.4 ? "1/\(Int((1 / seconds).rounded())) s" : "\(decimal(seconds)) s"
    }

    /// Returns a number with at most one digit after the point.
    private static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// Adds a fact unless it is unknown.
    private func add(_ title: String, _ text: String, link: String = "", to parent: Box? = nil) {
        guard !text.isEmpty else { return }
        let value = Label(text).wrapping().selectable()
        if !link.isEmpty { value.setLink(link, title: text) }
        (parent ?? content).append(Box(fact: title, value))
    }
}
