internal import Glibc
internal import Toolkit

/// The facts of a photo.
final class InfoPanel {
    let widget: ScrollArea
    private let content = Box(.vertical, spacing: 12)
    private let likes = Label().selectable().wrapping()
    private let likesBox: Box

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
        if let created = photo.created {
            add("Date", Label(Self.date(created)).wrapping().selectable())
        }
        if let width = photo.width, let height = photo.height {
            add("Size", Label("\(width) × \(height)").wrapping().selectable())
        }
        if !photo.camera.isEmpty { add("Camera", Label(photo.camera).wrapping().selectable()) }
        if !photo.album.isEmpty { add("Album", Label(photo.album).wrapping().selectable()) }
        content.append(likesBox)
        update(photo)
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

    private func add(_ title: String, _ value: Label) {
        let box = Box(
            .vertical, spacing: 2,
            Label(title).styled("caption", "dim-label").aligned(.start, .start), value)
        content.append(box)
    }

    /// Returns a date and time in the user's language and time zone.
    private static func date(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, "%e %B %Y, %H:%M", &parts)
        let bytes = buffer.prefix(count).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }
}
