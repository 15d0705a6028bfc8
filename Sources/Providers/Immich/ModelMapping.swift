internal import ProviderKit

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    private let server: ServerAddress
    /// True if photos have the place where they were taken.
    private let showsLocation: Bool

    init(_ server: ServerAddress, showsLocation: Bool = false) {
        self.server = server
        self.showsLocation = showsLocation
    }

    /// Returns the photos of a list, without videos and photos in the trash.
    func photos(_ records: some Sequence<AssetRecord>) -> [RemotePhoto] {
        records.lazy.filter { $0.isPhoto && $0.isTrashed != true }.map(photo)
    }

    func photo(_ record: AssetRecord) -> RemotePhoto {
        var photo = Photo(id: PhotoID(record.id.text))
        photo.created = record.created
        photo.updated = record.updated
        let size = size(record)
        photo.width = ServiceNumber.size(size.width)
        photo.height = ServiceNumber.size(size.height)
        photo.color = record.thumbHash.flatMap { ThumbHash(base64: $0) }?.averageColor
        photo.setText(record.fileName.map(Self.title))
        photo.description = ServiceText.paragraphs(record.exif?.description)
        photo.camera = Self.camera(record.exif)
        photo.lens = ServiceText.line(record.exif?.lens)
        photo.exposureTime = Self.seconds(record.exif?.exposureTime)
        photo.aperture = record.exif?.aperture.flatMap { 0...1000 ~= $0 ? $0 : nil }
        photo.iso = ServiceNumber.count(record.exif?.iso)
        if showsLocation, let latitude = record.exif?.latitude,
            let longitude = record.exif?.longitude, -90...90 ~= latitude, -180...180 ~= longitude
        {
            photo.latitude = latitude
            photo.longitude = longitude
        }
        photo.url = "\(server.origin)/photos/\(record.id.text)"
        photo.isLiked = record.isFavorite ?? false
        // Servers convert other formats for display, to a format that the API does not state.
        photo.mediaType = record.mediaType.flatMap { Self.displayedTypes.contains($0) ? $0 : nil }
        let address = "\(server.origin)/api/assets/\(record.id.text)"
        let edited = record.isEdited == true ? "&edited=true" : ""
        // The hash changes with the image, and with it the address.
        let version =
            record.thumbHash.map { "&c=\(URLEncoding.escape(String($0.prefix(128))))" } ?? ""
        func image(_ size: String) -> String {
            "\(address)/thumbnail?size=\(size)\(edited)\(version)"
        }
        var remote = RemotePhoto(
            photo,
            images: [
                .thumb: image("thumbnail"), .regular: image("preview"), .full: image("fullsize"),
            ])
        // Raw files have media types such as `image/x-canon-cr3`.
        if record.mediaType?.hasPrefix("image/") == true {
            remote.note = "\(address)/original" + (edited.isEmpty ? "" : "?edited=true")
        }
        remote.hasLikeState = record.isFavorite != nil
        return remote
    }

    /// Returns the address of the original; nil if it is not an image.
    func original(_ photo: RemotePhoto) -> String? {
        guard !photo.note.isEmpty, photo.note.hasPrefix("\(server.origin)/api/assets/") else {
            return nil
        }
        return photo.note
    }

    /// Returns the name of a file without its extension.
    private static func title(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Returns the name of a camera with its maker, which many model names contain.
    private static func camera(_ exif: ExifRecord?) -> String? {
        let make = ServiceText.line(exif?.make)
        guard let model = ServiceText.line(exif?.model) else { return make }
        guard let make, !model.lowercased().hasPrefix(make.lowercased()) else { return model }
        return "\(make) \(model)"
    }

    /// Returns an exposure time in seconds, from a number or a fraction such as `1/250`.
    private static func seconds(_ text: String?) -> Double? {
        let parts = (text ?? "").split(separator: "/").map { Double($0) ?? 0 }
        guard 1...2 ~= parts.count, parts.allSatisfy({ $0 > 0 }) else { return nil }
        let seconds = parts.dropFirst().reduce(parts[0], /)
        return seconds <= 86_400 ? seconds : nil
    }

    /// Returns the size after the orientation is applied.
    private func size(_ record: AssetRecord) -> (width: Int?, height: Int?) {
        if let width = record.width, let height = record.height, width > 0, height > 0 {
            return (width, height)
        }
        // The values of versions before 3 do not take the orientation into account.
        let isRotated = record.exif?.orientation.map { 5...8 ~= $0 } ?? false
        let (width, height) = (record.exif?.width, record.exif?.height)
        return isRotated ? (height, width) : (width, height)
    }

    /// The formats of originals that servers do not convert for display.
    private static let displayedTypes: Set = [
        "image/jpeg", "image/png", "image/webp", "image/gif", "image/avif",
    ]

    /// Returns the profile of a user; nil if the record has no email address.
    func profile(_ record: UserRecord) -> Profile? {
        guard let email = ServiceText.line(record.email) else { return nil }
        var profile = Profile(username: email, name: ServiceText.line(record.name) ?? email)
        profile.userID = record.id
        profile.url = server.origin + "/"
        if let id = record.id.flatMap(AssetID.init), record.avatarPath?.isEmpty == false {
            let changed = ServiceText.line(record.avatarChanged, atMost: 64)
            profile.avatarURL = URLEncoding.adding(
                changed.map { [("updatedAt", $0)] } ?? [],
                to: "\(server.origin)/api/users/\(id.text)/profile-image")
        }
        return profile
    }
}
