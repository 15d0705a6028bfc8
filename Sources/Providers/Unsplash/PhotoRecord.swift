internal import ProviderKit

/// A photo.
///
/// All members except the ID and the image addresses are optional: the documentation states that undocumented members
/// "may change with no warning".
struct PhotoRecord: Decodable {
    let id: String
    /// The address of each size.
    let images: ServiceRecord
    let members: ServiceRecord

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.required("id")
        images = try members.required("urls")
    }

    /// True if the photo is free to view: not an illustration, and not the watermarked preview of a photo that must be
    /// paid for.
    var isFreePhoto: Bool {
        members.value("premium") != true && members.value("plus") != true
            && members.text("asset_type") ?? "photo" == "photo"
    }
}

/// The results of a search.
struct SearchRecord: Decodable {
    let photos: LenientList<PhotoRecord>
    let total: Int?

    init(from decoder: any Decoder) throws {
        let members = try ServiceRecord(from: decoder)
        photos = try members.required("results")
        total = members.integer("total")
    }
}
