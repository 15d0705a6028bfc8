internal import BusAPI
internal import DBus
internal import ProviderKit

/// A photo in the form in which it is sent: `a{sv}` with the keys of ``PhotoKey``.
nonisolated struct PhotoEntry: BusType {
    static let signature: Signature = "a{sv}"
    static let alignment = 4

    let photo: Photo
    let account: ObjectPath
    /// True if the entry includes `id` and `account`. The argument `changes` of `PhotoChanged` omits them.
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
            try encoder.entry(Head.id, photo.id.text)
            try encoder.entry(Head.account, account)
        }
        encoder.entry(Head.created, photo.created?.secondsSince1970)
        encoder.entry(Head.updated, photo.updated?.secondsSince1970)
        encoder.entry(Head.width, photo.width.map(UInt32.init(clamping:)))
        encoder.entry(Head.height, photo.height.map(UInt32.init(clamping:)))
        try encoder.entry(Head.color, photo.color)
        try encoder.entry(Head.blurHash, photo.blurHash)
        encoder.entry(Head.focus, photo.focus.map { (($0.x + 1) / 2, (1 - $0.y) / 2) })
        try encoder.entry(Head.title, photo.title)
        try encoder.entry(Head.description, photo.description)
        try encoder.entry(Head.author, photo.author)
        try encoder.entry(Head.authorUsername, photo.authorUsername)
        try encoder.entry(Head.authorURL, photo.authorURL)
        try encoder.entry(Head.url, photo.url)
        encoder.entry(Head.likes, photo.likes.map(UInt32.init(clamping:)))
        encoder.entry(Head.liked, photo.isLiked)
        encoder.entry(Head.pending, photo.isPending)
        encoder.entry(Head.sensitive, photo.isSensitive)
        try encoder.entry(Head.mediaType, photo.mediaType)
        try encoder.endArray(start)
    }

    private enum Head {
        static let id = EntryHead<String>(PhotoKey.id)
        static let account = EntryHead<ObjectPath>(PhotoKey.account)
        static let created = EntryHead<Int64>(PhotoKey.created)
        static let updated = EntryHead<Int64>(PhotoKey.updated)
        static let width = EntryHead<UInt32>(PhotoKey.width)
        static let height = EntryHead<UInt32>(PhotoKey.height)
        static let color = EntryHead<String>(PhotoKey.color)
        static let blurHash = EntryHead<String>(PhotoKey.blurHash)
        static let focus = EntryHead<BusStruct<Double, Double>>(PhotoKey.focus)
        static let title = EntryHead<String>(PhotoKey.title)
        static let description = EntryHead<String>(PhotoKey.description)
        static let author = EntryHead<String>(PhotoKey.author)
        static let authorUsername = EntryHead<String>(PhotoKey.authorUsername)
        static let authorURL = EntryHead<String>(PhotoKey.authorURL)
        static let url = EntryHead<String>(PhotoKey.url)
        static let likes = EntryHead<UInt32>(PhotoKey.likes)
        static let liked = EntryHead<Bool>(PhotoKey.liked)
        static let pending = EntryHead<Bool>(PhotoKey.pending)
        static let sensitive = EntryHead<Bool>(PhotoKey.sensitive)
        static let mediaType = EntryHead<String>(PhotoKey.mediaType)
    }
}

/// A source in the form in which it is sent: `a{sv}` with the keys of ``SourceKey``.
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
        try encoder.entry(Head.id, source.id.text)
        try encoder.entry(Head.title, source.title)
        try encoder.entry(Head.kind, source.kind.rawValue)
        encoder.entry(Head.count, source.count.map(UInt32.init(clamping:)))
        try encoder.entry(Head.cover, source.cover?.text)
        try encoder.endArray(start)
    }

    private enum Head {
        static let id = EntryHead<String>(SourceKey.id)
        static let title = EntryHead<String>(SourceKey.title)
        static let kind = EntryHead<String>(SourceKey.kind)
        static let count = EntryHead<UInt32>(SourceKey.count)
        static let cover = EntryHead<String>(SourceKey.cover)
    }
}
