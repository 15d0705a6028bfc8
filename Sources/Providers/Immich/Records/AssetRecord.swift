internal import ProviderKit

/// The used fields of an asset: a photo or a video.
struct AssetRecord: Decodable {
    let id: AssetID
    /// `IMAGE`, `VIDEO`, `AUDIO` or `OTHER`.
    let kind: String?
    let fileName: String?
    let mediaType: String?
    /// The time at which the photo was taken, in UTC.
    let created: Timestamp?
    let updated: Timestamp?
    let isFavorite: Bool?
    let isTrashed: Bool?
    /// True if the server has an edited version (version 3).
    let isEdited: Bool?
    /// The size after the orientation is applied (version 3).
    let width: Int?
    let height: Int?
    let thumbHash: String?
    let exif: ExifRecord?

    var isPhoto: Bool { kind == nil || kind == "IMAGE" }

    private enum Key: String, CodingKey {
        case id, isFavorite, isTrashed, isEdited, width, height
        case kind = "type"
        case fileName = "originalFileName"
        case mediaType = "originalMimeType"
        case created = "fileCreatedAt"
        case updated = "updatedAt"
        case thumbHash = "thumbhash"
        case exif = "exifInfo"
    }

    private struct InvalidID: Error {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        guard let id = AssetID(try values.decode(String.self, forKey: .id)) else {
            throw InvalidID()
        }
        self.id = id
        kind = values.lenient(.kind)
        fileName = values.lenient(.fileName)
        mediaType = values.lenient(.mediaType)
        created = values.lenient(.created, as: String.self).flatMap { Timestamp(rfc3339: $0) }
        updated = values.lenient(.updated, as: String.self).flatMap { Timestamp(rfc3339: $0) }
        isFavorite = values.lenientFlag(.isFavorite)
        isTrashed = values.lenientFlag(.isTrashed)
        isEdited = values.lenientFlag(.isEdited)
        width = values.lenientInteger(.width)
        height = values.lenientInteger(.height)
        thumbHash = values.lenient(.thumbHash)
        exif = values.lenient(.exif)
    }
}

/// The used fields of the metadata of an image file.
struct ExifRecord: Decodable {
    /// The size before the orientation is applied.
    let width: Int?
    let height: Int?
    /// The EXIF orientation, 1 to 8.
    let orientation: Int?
    let description: String?
    let make: String?
    let model: String?
    let latitude: Double?
    let longitude: Double?
    let lens: String?
    /// In seconds: a number, or a fraction such as `1/250`.
    let exposureTime: String?
    let aperture: Double?
    let iso: Int?

    private enum Key: String, CodingKey {
        case orientation, description, make, model, latitude, longitude, exposureTime, iso
        case lens = "lensModel"
        case aperture = "fNumber"
        case width = "exifImageWidth"
        case height = "exifImageHeight"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        width = values.lenientInteger(.width)
        height = values.lenientInteger(.height)
        orientation = values.lenientInteger(.orientation)
        description = values.lenient(.description)
        make = values.lenient(.make)
        model = values.lenient(.model)
        latitude = values.lenientNumber(.latitude)
        longitude = values.lenientNumber(.longitude)
        lens = values.lenient(.lens)
        exposureTime = values.lenient(.exposureTime)
        aperture = values.lenientNumber(.aperture)
        iso = values.lenientInteger(.iso)
    }
}
