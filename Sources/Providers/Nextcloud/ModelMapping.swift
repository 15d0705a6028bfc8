internal import ProviderKit
internal import Translation
internal import WebService

/// A mapping from records to the model.
struct ModelMapping: Sendable {
    let server: ServerAddress
    /// True if photos have the place where they were taken.
    let showsLocation: Bool
    let omissions: OmittedImages

    /// The largest size of a preview that servers draw by default, in pixels.
    private static let maximumPreview = 4096
    /// The size of a file above which servers draw no preview by default, in bytes: `preview_max_filesize_image`.
    private static let maximumPreviewedBytes: Int64 = 50 << 20
    /// The limit of ``RemotePhoto/note``.
    private static let maximumNoteBytes = 4096
    private static let previewSizes: [(ImageSize, Int)] = [
        (.thumb, 256), (.small, 512), (.regular, 1024),
    ]

    /// Returns the photos of a list.
    func photos(_ records: some Sequence<FileRecord>) -> [RemotePhoto] {
        records.compactMap { record in
            guard !record.isPhoto else { return photo(record) }
            if record.hasPreview == false, let format = record.mediaType,
                format.hasPrefix("image/"),
                !format.hasPrefix("image/svg")
            {
                omissions.record(
                    ["\(record.id)"], Message("the server draws no images of its format"))
            }
            return nil
        }
    }

    func photo(_ record: FileRecord) -> RemotePhoto {
        omissions.remove(["\(record.id)", MultiStatus.Response.excerpt(record.path)])
        var photo = Photo(id: PhotoID("\(record.id)"))
        photo.created = record.created ?? record.modified
        photo.updated = record.modified
        photo.width = ServiceNumber.size(record.width)
        photo.height = ServiceNumber.size(record.height)
        photo.blurHash = record.blurHash.flatMap { Photo.isBlurHash($0) ? $0 : nil }
        photo.setFileName(record.name)
        photo.setCamera(make: record.make, model: record.model)
        if showsLocation { photo.setLocation(record.latitude, record.longitude) }
        photo.url =
            server.base + "/index.php/"
            + (record.albumPage.map { "apps/photos/" + $0 } ?? "f/\(record.id)")
        photo.isLiked = record.isFavourite ?? false
        // Servers draw other formats for display, in a format that the record does not state.
        photo.mediaType = record.isOriginalUsable ? record.mediaType : nil
        let original = original(record)
        let isUsable = record.isOriginalUsable && WebAddress(original) != nil
        let isLarge = isUsable && record.sizeBytes ?? 0 > Self.maximumPreviewedBytes
        var images: [ImageSize: String] = [:]
        // The image of a large file is downloaded once, as the only size.
        if record.hasPreview != false, !isLarge {
            for (size, pixels) in Self.previewSizes { images[size] = preview(record, pixels) }
        }
        images[.full] = isUsable ? original : preview(record, Self.maximumPreview)
        let note = String(original.dropFirst(server.origin.count))
        var remote = RemotePhoto(
            photo, images: images, note: note.utf8.count <= Self.maximumNoteBytes ? note : "")
        remote.hasLikeState = record.isFavourite != nil
        return remote
    }

    /// Returns the address of a preview that fits into a square. The tag changes with the file, and with it the address.
    private func preview(_ record: FileRecord, _ pixels: Int) -> String {
        let size = [("x", "\(pixels)"), ("y", "\(pixels)")]
        guard !record.isInAlbum else {
            // Source: photos 6.0, `appinfo/routes.php` and `PreviewController::index`.
            return URLEncoding.adding(
                size + version(record),
                to: "\(server.base)/index.php/apps/photos/api/v1/preview/\(record.id)")
        }
        return URLEncoding.adding(
            [("fileId", "\(record.id)")] + size + [("a", "1"), ("forceIcon", "0")]
                + version(record),
            to: server.base + "/index.php/core/preview")
    }

    /// Returns the address of the original file. The server ignores the parameters: the tag changes with the file, and
    /// the ID finds the file after it was moved.
    func original(_ record: FileRecord) -> String {
        URLEncoding.adding(
            [("fileId", "\(record.id)")] + version(record), to: server.origin + record.path)
    }

    private func version(_ record: FileRecord) -> [(String, String)] {
        let tag = record.tag.map { $0.filter { $0 != "\"" }.prefix(64) }
        return tag.map { [("c", String($0))] } ?? []
    }

    /// Returns the address of the original file; nil for a photo of another server.
    func original(_ photo: RemotePhoto) -> String? {
        photo.note.hasPrefix(server.path + "/remote.php/") ? server.origin + photo.note : nil
    }

    /// Returns the profile of a user; nil if the record has no ID.
    func profile(_ user: ServiceRecord) -> Profile? {
        guard let id = user.text("id"), !id.isEmpty, ServiceText.line(id, atMost: 256) == id else {
            return nil
        }
        let name = ServiceText.line(user.text("display-name") ?? user.text("displayname"))
        var profile = Profile(username: id, name: name ?? id)
        profile.userID = id
        profile.bio = user.paragraphs("biography") ?? user.line("headline") ?? ""
        profile.location = user.line("address") ?? ""
        let path = URLEncoding.escape(id)
        profile.url = "\(server.base)/index.php/u/\(path)"
        profile.avatarURL = "\(server.base)/index.php/avatar/\(path)/512"
        return profile
    }
}
