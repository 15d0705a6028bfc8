internal import Contract
internal import Glibc
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// The facts of a photo.
final class InfoPanel {
    private(set) lazy var widget = ScrollArea(content).styled("background")
    private let content = Box(.vertical, spacing: 12).margins(18)
    private let likes = Label().selectable().wrapping()
    private let fileBox = Box(.vertical, spacing: 12)

    init() {
        widget.setMinimumSize(width: 280)
        widget.setAccessibleName(tr("Information about the photo"))
    }

    func show(_ photo: Photo) {
        content.removeAll()
        let title = Label(photo.title.isEmpty ? tr("Photo") : photo.title).wrapping().selectable()
        content.append(title.styled("title-2"))
        if !photo.text.isEmpty { content.append(Label(photo.text).wrapping().selectable()) }
        if !photo.description.isEmpty, photo.description != photo.title {
            content.append(Label(photo.description).wrapping().selectable())
        }
        content.add(fact: tr("Author"), photo.author, link: photo.authorURL)
        content.add(fact: tr("Licence"), photo.license, link: photo.licenseURL)
        content.add(fact: tr("Date"), photo.dayAndTime)
        if let (width, height) = photo.size {
            content.add(fact: tr("Size"), "\u{2066}\(width) × \(height)\u{2069}")
        }
        content.add(fact: tr("Camera"), photo.camera)
        content.add(fact: tr("Lens"), photo.lens)
        content.add(fact: tr("Exposure"), photo.exposureTime.map(Self.exposure) ?? "")
        content.add(fact: tr("Aperture"), photo.aperture.map { "f/\(Self.decimal($0))" } ?? "")
        content.add(fact: "ISO", photo.iso.map { "\($0)" } ?? "")
        content.add(fact: tr("Album"), photo.album)
        if let latitude = photo.latitude, let longitude = photo.longitude {
            content.add(
                fact: tr("Place"), "\(latitude)°, \(longitude)°",
                link:
                    "https://www.openstreetmap.org/?mlat=\(latitude)&mlon=\(longitude)#map=15/\(latitude)/\(longitude)"
            )
        }
        content.add(
            fact: tr("Format"),
            photo.isAnimated
                ? tr("{format} (animated)", ["format": photo.mediaType]) : photo.mediaType)
        content.append(fileBox)
        fileBox.removeAll()
        if !photo.isFile {
            content.append(Box(fact: tr("Likes"), likes))
            update(photo)
        }
    }

    /// Adds the facts of the file of a photo on this computer.
    func show(file path: String, byteCount: Int64) {
        let path = PathBytes(path)
        let name = String(path.text.dropFirst(path.folder.text.count))
        fileBox.removeAll()
        fileBox.add(fact: tr("File"), name)
        fileBox.add(fact: tr("Folder"), path.folder.text, link: UserFile.uri(path.folder.text))
        fileBox.add(fact: tr("File size"), UserFile.sizeText(byteCount))
    }

    /// Shows the current likes of the same photo.
    func update(_ photo: Photo) {
        let own =
            switch (photo.wantsLike, photo.isPending) {
            case (true, false): tr("You like this photo")
            case (true, true): tr("Your like is not confirmed yet")
            case (false, true): tr("The removal of your like is not confirmed yet")
            case (false, false): tr("You do not like this photo yet")
            }
        likes.text = photo.likes.map { "\(text(ofNumber: $0)) · \(own)" } ?? own
    }

    /// Returns a time in seconds as photographers write it.
    static func exposure(_ seconds: Double) -> String {
        seconds < 0.4 ? "1/\(Int((1 / seconds).rounded())) s" : "\(decimal(seconds)) s"
    }

    /// Returns a number with at most one digit after the point.
    private static func decimal(_ number: Double) -> String {
        let separator = String(cString: localeconv().pointee.decimal_point)
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10)\(separator)\(tenths % 10)"
    }
}
