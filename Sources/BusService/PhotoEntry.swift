internal import BusAPI
internal import DBus
internal import ProviderKit

/// A photo in its D-Bus form: `a{sv}` with the keys `id`, `account` and those of `PhotoField`.
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
            try encoder.entry(Self.id, photo.id.text)
            try encoder.entry(Self.account, account)
        }
        let properties = Self.properties
        for index in properties.indices { try properties[index].append(photo, &encoder) }
        try encoder.endArray(start)
    }

    private static let id = EntryHead<String>("id")
    private static let account = EntryHead<ObjectPath>("account")

    private static let properties = PhotoField.all.map(Property.init)

    /// A property of photos in its D-Bus form.
    private struct Property: Sendable {
        /// Appends the entry of the property unless its value is unknown. The property is a closure with the marshalled
        /// key, because copies of enumeration values with keys take as much time as the rest of the encoding.
        let append: @Sendable (Photo, inout Encoder) throws(BusError) -> Void

        init(_ field: PhotoField) {
            switch field.value {
            case .time(let get, _):
                let head = EntryHead<Int64>(field.key)
                append = { (photo, encoder) throws(BusError) in
                    encoder.entry(head, get(photo)?.secondsSince1970)
                }
            case .count(let get, _):
                let head = EntryHead<UInt32>(field.key)
                append = { (photo, encoder) throws(BusError) in
                    encoder.entry(head, get(photo).map(UInt32.init(clamping:)))
                }
            case .number(_, let get, _):
                let head = EntryHead<Double>(field.key)
                append = { (photo, encoder) throws(BusError) in encoder.entry(head, get(photo)) }
            case .flag(let get, _):
                let head = EntryHead<Bool>(field.key)
                append = { (photo, encoder) throws(BusError) in encoder.entry(head, get(photo)) }
            case .text(_, let get, _):
                let head = EntryHead<String>(field.key)
                append = { (photo, encoder) throws(BusError) in
                    try encoder.entry(head, get(photo))
                }
            case .point(let get, _):
                let head = EntryHead<BusStruct<Double, Double>>(field.key)
                append = { (photo, encoder) throws(BusError) in
                    encoder.entry(head, get(photo).map { (($0.x + 1) / 2, (1 - $0.y) / 2) })
                }
            case .likeState(let get):
                let head = EntryHead<Bool>(field.key)
                append = { (photo, encoder) throws(BusError) in encoder.entry(head, get(photo)) }
            }
        }
    }
}

/// A source in its D-Bus form: `a{sv}` with the keys of ``SourceKey``.
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

extension ExportedObject {
    /// The number of changed photos up to which each has a signal of its own.
    private static let separatePhotos = 10

    /// Announces changed photos of a feed.
    func emitChanges(of photos: [PhotoEntry]) {
        guard photos.count <= Self.separatePhotos else {
            return emit(.feed, "PhotosChanged", photos)
        }
        for var changes in photos {
            changes.isNamed = false
            emit(.feed, "PhotoChanged", changes.photo.id.text, changes)
        }
    }
}
