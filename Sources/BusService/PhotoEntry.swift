internal import BusAPI
internal import DBus
internal import ProviderKit

/// A photo as it goes over the bus: `a{sv}` with the keys of ``PhotoKey``.
nonisolated struct PhotoEntry: BusType {
    static let signature: Signature = "a{sv}"
    static let alignment = 4

    let photo: Photo
    let account: ObjectPath
    /// Whether the photo is named: a list of changes does not name it again.
    var isNamed = true

    init(_ photo: Photo, account: ObjectPath) {
        self.photo = photo
        self.account = account
    }

    init(from decoder: inout Decoder) throws(BusError) {
        throw .invalidValue("photos are only sent")
    }

    func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        if isNamed {
            try encoder.entry(PhotoKey.id.rawValue, photo.id.text)
            try encoder.entry(PhotoKey.account.rawValue, account)
        }
        try encoder.entry(PhotoKey.created.rawValue, photo.created?.secondsSince1970)
        try encoder.entry(PhotoKey.updated.rawValue, photo.updated?.secondsSince1970)
        try encoder.entry(PhotoKey.width.rawValue, photo.width.map(UInt32.init(clamping:)))
        try encoder.entry(PhotoKey.height.rawValue, photo.height.map(UInt32.init(clamping:)))
        try encoder.entry(PhotoKey.color.rawValue, photo.color)
        try encoder.entry(PhotoKey.blurHash.rawValue, photo.blurHash)
        try encoder.entry(PhotoKey.title.rawValue, photo.title)
        try encoder.entry(PhotoKey.description.rawValue, photo.description)
        try encoder.entry(PhotoKey.author.rawValue, photo.author)
        try encoder.entry(PhotoKey.authorUsername.rawValue, photo.authorUsername)
        try encoder.entry(PhotoKey.authorURL.rawValue, photo.authorURL)
        try encoder.entry(PhotoKey.url.rawValue, photo.url)
        try encoder.entry(PhotoKey.likes.rawValue, photo.likes.map(UInt32.init(clamping:)))
        try encoder.entry(PhotoKey.liked.rawValue, photo.isLiked)
        try encoder.entry(PhotoKey.pending.rawValue, false)
        try encoder.entry(PhotoKey.sensitive.rawValue, photo.isSensitive)
        try encoder.entry(PhotoKey.mediaType.rawValue, photo.mediaType)
        try encoder.endArray(start)
    }
}

/// A source as it goes over the bus: `a{sv}` with the keys of ``SourceKey``.
nonisolated struct SourceEntry: BusType {
    static let signature: Signature = "a{sv}"
    static let alignment = 4

    let source: Source

    init(_ source: Source) { self.source = source }

    init(from decoder: inout Decoder) throws(BusError) {
        throw .invalidValue("sources are only sent")
    }

    func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        try encoder.entry(SourceKey.id.rawValue, source.id.text)
        try encoder.entry(SourceKey.title.rawValue, source.title)
        try encoder.entry(SourceKey.kind.rawValue, source.kind.rawValue)
        try encoder.entry(SourceKey.count.rawValue, source.count.map(UInt32.init(clamping:)))
        try encoder.entry(SourceKey.cover.rawValue, source.cover?.text)
        try encoder.endArray(start)
    }
}
