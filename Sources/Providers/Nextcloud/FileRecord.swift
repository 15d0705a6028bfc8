internal import ImageMetadata
internal import ProviderKit
internal import Translation
internal import WebService
internal import XML

/// The used properties of a file.
struct FileRecord: Hashable, Sendable {
    /// The path at the server, percent-encoded. It is a path in an album if the photo is not in the user's files.
    private(set) var path: String
    let id: Int64
    private(set) var name: String?
    let mediaType: String?
    let tag: String?
    let modified: Timestamp?
    /// The capture date by which the server orders photos, in seconds since 1970. The server interprets the time of the
    /// camera as UTC; without one, it uses the time of the file. nil if the server has not read the file yet, and
    /// before version 28.
    ///
    /// Source: photos 8.0, `OriginalDateTimeMetadataProvider`.
    let taken: Int64?
    /// The size of the file in bytes.
    let sizeBytes: Int64?
    let isFavourite: Bool?
    /// False if the server cannot draw the image.
    let hasPreview: Bool?
    /// The size after the orientation is applied.
    let width: Int?
    let height: Int?
    let make: String?
    let model: String?
    let blurHash: String?
    let latitude: Double?
    let longitude: Double?
    /// The path in the user's files, for a photo of the user in an album; nil if the server does not state it.
    let ownPath: String?

    /// The time by which photos are ordered, in seconds since 1970.
    var seconds: Int64 { taken ?? modified?.secondsSince1970 ?? 0 }

    /// The time at which the photo was taken; nil if it is unknown. The time of a camera is local, that of a file is
    /// not.
    var created: Timestamp? {
        guard let taken, taken != 0, taken != -1 else { return nil }
        return taken == modified?.secondsSince1970
            ? modified : Timestamp(localClockSeconds: taken)
    }

    /// Reads a response of a multi-status document; nil for one without the ID of a file.
    init?(_ response: MultiStatus.Response) {
        let own = response.properties
        func text(_ name: String, in namespace: String) -> String? {
            own.child(name, in: namespace).flatMap { $0.text.isEmpty ? nil : $0.text }
        }
        guard let id = text("fileid", in: Namespace.ownCloud).flatMap({ Int64($0) }), id > 0 else {
            return nil
        }
        self.id = id
        path = response.path
        name = text("displayname", in: Namespace.dav) ?? text("file-name", in: Namespace.nextcloud)
        mediaType = text("getcontenttype", in: Namespace.dav)
        tag = text("getetag", in: Namespace.dav)
        modified = text("getlastmodified", in: Namespace.dav).flatMap { Timestamp(httpDate: $0) }
        func metadata(_ name: String) -> XMLElement? {
            own.child("metadata-" + name, in: Namespace.nextcloud)
        }
        taken = metadata("photos-original_date_time").flatMap { Int64($0.text) }
            .flatMap { PhotoPosition.times.contains($0) ? $0 : nil }
        sizeBytes =
            (text("size", in: Namespace.ownCloud)
            ?? text("getcontentlength", in: Namespace.dav)).flatMap { Int64($0) }
        ownPath = text("photos-collection-file-original-filename", in: Namespace.nextcloud)
        isFavourite = text("favorite", in: Namespace.ownCloud).map { $0 != "0" && $0 != "false" }
        hasPreview = text("has-preview", in: Namespace.nextcloud).map { $0 == "true" }
        let size = metadata("photos-size")
        width = size?.child("width").flatMap { Int($0.text) }
        height = size?.child("height").flatMap { Int($0.text) }
        let exif = metadata("photos-ifd0")
        // The server encodes texts that are not UTF-8.
        //
        // Source: photos 8.0, `ExifMetadataProvider::sanitizeEntries`.
        func camera(_ name: String) -> String? {
            exif?.child(name).flatMap { $0.text.hasPrefix("base64:") ? nil : $0.text }
        }
        make = camera("Make")
        model = camera("Model")
        blurHash = metadata("blurhash")?.text
        let place = metadata("photos-gps")
        latitude = place?.child("latitude").flatMap { Double($0.text) }
        longitude = place?.child("longitude").flatMap { Double($0.text) }
    }

    /// True if the file is an image that can be shown. Drawings such as SVG are not photos.
    var isPhoto: Bool {
        guard let mediaType, mediaType.hasPrefix("image/"), !mediaType.hasPrefix("image/svg")
        else { return false }
        return hasPreview != false || isOriginalUsable
    }

    /// True if clients can use the original.
    var isOriginalUsable: Bool {
        guard let mediaType else { return false }
        // The server draws other formats, and those of HEIF if it can.
        return ImageFormat.displayedTypes.contains(mediaType)
            || hasPreview == false && ImageFormat(mediaType: mediaType) == .heic
    }

    /// True if the photo is known only from an album, because another user owns it.
    var isInAlbum: Bool { path.contains("/remote.php/dav/photos/") }

    /// The path of the album's page below that of the app; nil for a photo in the user's files.
    var albumPage: String? {
        let parts = path.split(separator: "/")
        guard isInAlbum, parts.count > 3 else { return nil }
        return parts.dropLast().suffix(2).joined(separator: "/")
    }

    /// The path below the user's files; nil for a photo that is known only from an album.
    var filePath: String? {
        guard let root = path.firstRange(of: "/remote.php/dav/files/") else { return nil }
        let parts = path[root.upperBound...].split(separator: "/").dropFirst()
        return URLEncoding.bytes(Substring(parts.joined(separator: "/")))
            .flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns the photo of an album with its path and name in the user's files.
    ///
    /// - Parameters:
    ///   - own: The photo in the files; nil if it was not searched or found.
    ///   - root: The path of the files, for a photo whose path the album states.
    /// - Returns: The photo; unchanged if another user owns it.
    func located(at own: FileRecord?, below root: String) -> FileRecord {
        var record = self
        if let own {
            record.path = own.path
            record.name = own.name ?? name
        } else if let ownPath {
            let parts = ownPath.split(separator: "/")
            record.path = root + parts.map { "/" + Self.encode($0) }.joined()
            record.name = parts.last.map(String.init) ?? name
        }
        return record
    }

    /// Encodes a segment of a path in the same way as servers, so that a photo has one address.
    ///
    /// Source: sabre/http 5.1, `encodePathSegment`.
    private static func encode(_ segment: Substring) -> String {
        URLEncoding.escape(String(segment)).replacing(/%../) { escape in
            escape.output == "%28" ? "(" : escape.output == "%29" ? ")" : escape.output.lowercased()
        }
    }
}

extension Source {
    /// Reads a response of a list of albums; nil for one without properties of an album.
    init?(album response: MultiStatus.Response, _ kind: NextcloudKind) {
        let own = response.properties
        guard let name = response.name, kind.accepts(name),
            let count = own.child("nbItems", in: Namespace.nextcloud)
        else { return nil }
        let cover = own.child("last-photo", in: Namespace.nextcloud).flatMap { Int64($0.text) }
        self.init(
            id: kind.id(name),
            title: ServiceText.line(name).map { Message(verbatim: $0) }
                ?? Message("Untitled album"), kind: .album,
            count: ServiceNumber.count(Int(count.text)),
            cover: cover.flatMap { $0 > 0 ? PhotoID("\($0)") : nil })
    }
}
