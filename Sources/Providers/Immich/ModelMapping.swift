internal import ImageMetadata
internal import JSONFormat
internal import ProviderKit

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    let server: ServerAddress
    /// True if photos have the place where they were taken.
    let showsLocation: Bool

    /// Maps an asset.
    ///
    /// - Parameters:
    ///   - record: The asset.
    ///   - author: The name of its owner; nil for the user's own photo.
    /// - Returns: The photo.
    func photo(_ record: AssetRecord, by author: String? = nil) -> RemotePhoto {
        let members = record.members
        let exif = members.record("exifInfo")
        let thumbHash = members.text("thumbhash")
        let mediaType = members.text("originalMimeType")
        let isFavourite = members.flag("isFavorite")
        var photo = Photo(id: PhotoID(record.id.rawValue))
        photo.created = record.taken
        photo.author = author
        photo.updated = members.time("updatedAt")
        (photo.width, photo.height) = size(members, exif)
        photo.color = thumbHash.flatMap(Self.averageColor)
        photo.setFileName(members.text("originalFileName"))
        photo.description = exif?.paragraphs("description")
        photo.setCamera(make: exif?.text("make"), model: exif?.text("model"))
        photo.lens = exif?.line("lensModel")
        photo.exposureTime = Self.seconds(exif?.text("exposureTime"))
        photo.aperture = exif?.number("fNumber").flatMap { 0...1000 ~= $0 ? $0 : nil }
        photo.iso = exif?.count("iso")
        if showsLocation { photo.setLocation(exif?.number("latitude"), exif?.number("longitude")) }
        photo.url = "\(server.origin)/photos/\(record.id.rawValue)"
        photo.isLiked = isFavourite ?? false
        // Servers convert other formats for display, to a format that the API does not state.
        photo.mediaType = mediaType.flatMap { ImageFormat.displayedTypes.contains($0) ? $0 : nil }
        let address = "\(server.origin)/api/assets/\(record.id.rawValue)"
        let edited = members.flag("isEdited") == true ? "&edited=true" : ""
        // The hash changes with the image, and with it the address.
        let version =
            thumbHash.map { "&c=\(URLEncoding.escape(String($0.prefix(128))))" } ?? ""
        func image(_ size: String) -> String {
            "\(address)/thumbnail?size=\(size)\(edited)\(version)"
        }
        var remote = RemotePhoto(
            photo,
            images: [
                .thumb: image("thumbnail"), .regular: image("preview"), .full: image("fullsize"),
            ])
        // Raw files have media types such as `image/x-canon-cr3`.
        if mediaType?.hasPrefix("image/") == true {
            remote.note = "\(address)/original" + (edited.isEmpty ? "" : "?edited=true")
        }
        remote.hasLikeState = isFavourite != nil
        return remote
    }

    /// Returns the address of the original; nil if it is not an image.
    func original(_ photo: RemotePhoto) -> String? {
        guard !photo.note.isEmpty, photo.note.hasPrefix("\(server.origin)/api/assets/") else {
            return nil
        }
        return photo.note
    }

    /// The maximum length of a ThumbHash in bytes.
    private static let maximumHashLength = 64

    /// Returns the average colour of an image, `#RRGGBB`, from its ThumbHash in Base64; nil for another text. A
    /// transparent image is shown on white.
    ///
    /// Source: evanw.github.io/thumbhash.
    static func averageColor(thumbHash text: String) -> String? {
        guard text.utf8.count <= 2 * maximumHashLength, let bytes = Base64.decode(text),
            5...maximumHashLength ~= bytes.count
        else { return nil }
        let hasAlpha = bytes[2] & 0x80 != 0
        guard !hasAlpha || bytes.count > 5 else { return nil }
        let header = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let luminance = Double(header & 63) / 63
        let yellowBlue = Double(header >> 6 & 63) / 31.5 - 1
        let redGreen = Double(header >> 12 & 63) / 31.5 - 1
        let alpha = hasAlpha ? Double(bytes[5] & 15) / 15 : 1
        let blue = luminance - 2 / 3 * yellowBlue
        let red = (3 * luminance - blue + redGreen) / 2
        let green = red - redGreen
        let digits = [red, green, blue].map { value in
            let level = min(max(value, 0), 1) * alpha + (1 - alpha)
            let number = Int((level * 255).rounded())
            return (number < 16 ? "0" : "") + String(number, radix: 16)
        }
        return "#" + digits.joined()
    }

    /// Returns an exposure time in seconds, from a number or a fraction such as `1/250`.
    private static func seconds(_ text: String?) -> Double? {
        let parts = (text ?? "").split(separator: "/").map { Double($0) ?? 0 }
        guard 1...2 ~= parts.count, parts.allSatisfy({ $0 > 0 }) else { return nil }
        let seconds = parts.dropFirst().reduce(parts[0], /)
        return seconds <= 86_400 ? seconds : nil
    }

    /// Returns the size after the orientation is applied, which version 3 states.
    private func size(_ asset: ServiceRecord, _ exif: ServiceRecord?) -> (Int?, Int?) {
        if let width = asset.size("width"), let height = asset.size("height") {
            return (width, height)
        }
        // The values of versions before 3 do not take the EXIF orientation into account.
        let isRotated = exif?.integer("orientation").map { 5...8 ~= $0 } ?? false
        let (width, height) = (exif?.size("exifImageWidth"), exif?.size("exifImageHeight"))
        return isRotated ? (height, width) : (width, height)
    }

    /// Returns the profile of a user; nil if the record has no email address.
    func profile(_ user: ServiceRecord) -> Profile? {
        guard let email = user.line("email") else { return nil }
        var profile = Profile(username: email, name: user.line("name") ?? email)
        profile.userID = user.text("id")
        profile.url = server.origin + "/"
        // The path is empty if the user has no avatar.
        if let id: AssetID = user.value("id"), user.text("profileImagePath")?.isEmpty == false {
            let changed = ServiceText.line(user.text("profileChangedAt"), atMost: 64)
            profile.avatarURL = URLEncoding.adding(
                changed.map { [("updatedAt", $0)] } ?? [],
                to: "\(server.origin)/api/users/\(id.rawValue)/profile-image")
        }
        return profile
    }
}

/// An asset: a photo or a video.
struct AssetRecord: Decodable {
    let id: AssetID
    let created: Timestamp?
    let members: ServiceRecord

    /// The time by which the server orders photos. One that cannot be read is after the year 9999, so above all others.
    var second: Timestamp { created ?? Timestamp(secondsSince1970: .max) }

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.required("id")
        created = members.time("fileCreatedAt")
    }

    /// The time at which the photo was taken; nil if it is unknown. The time of a camera without a time zone is local,
    /// unless the server has interpreted it in a zone of its own.
    ///
    /// Source: immich 3.0.3, `getDates` of `metadata.service.ts`.
    var taken: Timestamp? {
        guard let created, let exif = members.record("exifInfo"), exif.text("timeZone") == nil,
            created == members.time("localDateTime")
        else { return created }
        return Timestamp(localClockSeconds: created.secondsSince1970)
    }

    /// The ID of the owner; nil if the server does not state it.
    var owner: String? { members.text("ownerId") }

    /// The first day of the month of the timeline that has the asset; nil if the server does not state it.
    var month: String? {
        members.text("localDateTime").flatMap { $0.utf8.count > 7 ? $0.prefix(7) + "-01" : nil }
    }

    /// True for a photo that is not in the trash. The other kinds are `VIDEO`, `AUDIO` and `OTHER`.
    var isPhoto: Bool {
        members.text("type") ?? "IMAGE" == "IMAGE" && members.flag("isTrashed") != true
    }
}

/// The assets of a month of an album in columns, of any owner and without details.
///
/// Source: immich 3.0.3, `time-bucket.dto.ts` and `timeline.service.ts`: with an album, it does not filter owners.
struct TimeBucketRecord: Decodable {
    private let id: [String]
    private let ownerId: [String]
    private let isFavorite: [Bool]
    private let isTrashed: [Bool]
    private let isImage: [Bool]
    private let thumbhash: [String?]
    private let fileCreatedAt: [String]

    /// The assets in the form of other interfaces; nil if the columns differ in length.
    var assets: [AssetRecord]? {
        let counts = [
            ownerId.count, isFavorite.count, isTrashed.count, isImage.count, thumbhash.count,
            fileCreatedAt.count,
        ]
        guard counts.allSatisfy({ $0 == id.count }) else { return nil }
        let rows = id.indices.map { index -> JSON in
            // A time of UTC has no zone here.
            let time = fileCreatedAt[index]
            let zone = time.hasSuffix("Z") || time.contains("+") ? "" : "Z"
            return [
                "id": .string(id[index]), "ownerId": .string(ownerId[index]),
                "isFavorite": .bool(isFavorite[index]), "isTrashed": .bool(isTrashed[index]),
                "type": isImage[index] ? "IMAGE" : "VIDEO", "thumbhash": JSON(thumbhash[index]),
                "fileCreatedAt": .string(time + zone),
            ]
        }
        let list: LenientList<AssetRecord>? = JSON.array(rows).decode()
        return list?.elements
    }
}

/// A page of a search.
struct SearchRecord: Decodable {
    let assets: LenientList<AssetRecord>
    /// The number of the next page; nil at the end.
    let nextPage: Int?
    /// The cursor of the next page (version 3.2); nil at the end.
    let nextCursor: String?

    init(from decoder: any Decoder) throws {
        let page: ServiceRecord = try ServiceRecord(from: decoder).required("assets")
        assets = try page.required("items")
        nextPage = page.integer("nextPage")
        nextCursor = page.text("nextCursor")
    }
}

/// A memory: the photos of a day in an earlier year.
struct MemoryRecord: Decodable {
    let assets: LenientList<AssetRecord>
    let members: ServiceRecord

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        assets = try members.required("assets")
    }
}
