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
        likesBox = Box(
            .vertical, spacing: 2,
            Label("Likes").styled("caption", "dim-label").aligned(.start, .start), likes)
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
        if !photo.author.isEmpty {
            let author = Label().wrapping()
            if photo.authorURL.isEmpty {
                author.text = photo.author
            } else {
                author.setLink(photo.authorURL, title: photo.author)
            }
            add("Author", author)
        }
        if photo.created != nil {
            add("Date", Label(photo.dayAndTime).wrapping().selectable())
        }
        if let width = photo.width, let height = photo.height {
            add("Size", Label("\u{2066}\(width) × \(height)\u{2069}").wrapping().selectable())
        }
        if !photo.camera.isEmpty { add("Camera", Label(photo.camera).wrapping().selectable()) }
        if !photo.album.isEmpty { add("Album", Label(photo.album).wrapping().selectable()) }
        if let latitude = photo.latitude, let longitude = photo.longitude {
            let label = Label().wrapping().selectable()
            label.setLink(
                "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=15/\(latitude)/\(longitude)",
                title: "\(latitude)°, \(longitude)°")
            add("Place", label)
        }
        if !photo.mediaType.isEmpty {
            add("Format", Label(photo.mediaType).wrapping().selectable())
        }
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
        let folder = Label().wrapping().selectable()
        folder.setLink(FileActions.uri(path.folder.text), title: path.folder.text)
        fileBox.removeAll()
        add("File", Label(name).wrapping().selectable(), to: fileBox)
        add("Folder", folder, to: fileBox)
        add(
            "File size", Label(FileActions.sizeText(byteCount)).wrapping().selectable(), to: fileBox
        )
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

    private func add(_ title: String, _ value: Label, to parent: Box? = nil) {
        let box = Box(
            .vertical, spacing: 2,
            Label(title).styled("caption", "dim-label").aligned(.start, .start), value)
        (parent ?? content).append(box)
    }
}
