internal import ProviderKit

/// An asset: a photo or a video.
struct AssetRecord: Decodable {
    let id: AssetID
    /// The time at which the photo was taken, in UTC.
    let created: Timestamp?
    let members: ServiceRecord

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.required("id")
        created = members.time("fileCreatedAt")
    }

    /// True for a photo that is not in the trash. The other kinds are `VIDEO`, `AUDIO` and `OTHER`.
    var isPhoto: Bool {
        members.text("type") ?? "IMAGE" == "IMAGE" && members.flag("isTrashed") != true
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

/// The people of a server.
struct PeopleRecord: Decodable {
    let people: LenientList<ServiceRecord>
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

/// The version of a server.
struct VersionRecord: Decodable, Hashable, Comparable {
    let major: Int
    let minor: Int
    let patch: Int

    init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    static func < (left: VersionRecord, right: VersionRecord) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
