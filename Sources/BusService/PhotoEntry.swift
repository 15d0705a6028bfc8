internal import BusAPI
internal import DBus
internal import ProviderKit

/// A photo in the form in which it is sent: `a{sv}` with the keys `id`, `account` and those of `PhotoField`.
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
        for property in Self.properties {
            switch property {
            case .int64(let head, let get): encoder.entry(head, get(photo)?.secondsSince1970)
            case .uint32(let head, let get):
                encoder.entry(head, get(photo).map(UInt32.init(clamping:)))
            case .double(let head, let get): encoder.entry(head, get(photo))
            case .bool(let head, let get): encoder.entry(head, get(photo))
            case .string(let head, let get): try encoder.entry(head, get(photo))
            case .point(let head, let get):
                encoder.entry(head, get(photo).map { (($0.x + 1) / 2, (1 - $0.y) / 2) })
            }
        }
        try encoder.endArray(start)
    }

    private static let id = EntryHead<String>("id")
    private static let account = EntryHead<ObjectPath>("account")

    /// The first part of the entry of each property, with the function that reads its value.
    private static let properties = PhotoField.all.map(Property.init)

    private enum Property: Sendable {
        case int64(EntryHead<Int64>, @Sendable (Photo) -> Timestamp?)
        case uint32(EntryHead<UInt32>, @Sendable (Photo) -> Int?)
        case double(EntryHead<Double>, @Sendable (Photo) -> Double?)
        case bool(EntryHead<Bool>, @Sendable (Photo) -> Bool?)
        case string(EntryHead<String>, @Sendable (Photo) -> String?)
        case point(EntryHead<BusStruct<Double, Double>>, @Sendable (Photo) -> FocalPoint?)

        init(_ field: PhotoField) {
            self =
                switch field.value {
                case .time(let get, _): .int64(EntryHead(field.key), get)
                case .count(let get, _): .uint32(EntryHead(field.key), get)
                case .number(_, let get, _): .double(EntryHead(field.key), get)
                case .flag(let get, _): .bool(EntryHead(field.key), get)
                case .text(_, let get, _): .string(EntryHead(field.key), get)
                case .point(let get, _): .point(EntryHead(field.key), get)
                case .likeState(let get): .bool(EntryHead(field.key)) { get($0) }
                }
        }
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
