package import DBus
package import ProviderKit

/// A photo in its D-Bus form: `a{sv}` with the keys `id`, `account` and those of `PhotoField`.
///
/// Its members are also those of the photo. A client ignores keys that it does not know.
@dynamicMemberLookup
package struct PhotoEntry: BusType, Hashable {
    package static let signature: Signature = "a{sv}"

    package var photo: Photo
    /// The path of the account that has the photo.
    package let account: ObjectPath
    /// True if the entry includes `id` and `account`. The argument `changes` of `PhotoChanged` omits them.
    package var isNamed = true

    package init(_ photo: Photo, account: ObjectPath) {
        self.photo = photo
        self.account = account
    }

    /// Reads the entries of the bus; nil without an ID.
    package init?(_ entries: [String: Variant]) {
        guard let id = entries[Self.keys[0]]?.string else { return nil }
        photo = Photo(id: PhotoID(id))
        account = entries[Self.keys[1]]?.objectPath ?? ServiceName.root
        apply(entries)
    }

    /// The ID of the photo in its feed.
    package var id: String { photo.id.text }

    package subscript<Value>(dynamicMember member: WritableKeyPath<Photo, Value>) -> Value {
        get { photo[keyPath: member] }
        set { photo[keyPath: member] = newValue }
    }

    // MARK: Receiving

    /// Changes the properties that have an entry. Values of unexpected types are ignored.
    package mutating func apply(_ entries: [String: Variant]) {
        for field in PhotoField.all {
            if let value = entries[field.key] { field.set(value, in: &photo) }
        }
    }

    package init(from decoder: inout Decoder) throws(BusError) {
        guard let entry = PhotoEntry(try [String: Variant](from: &decoder)) else {
            throw .invalidValue("a photo has no ID")
        }
        self = entry
    }

    /// All keys, in the order in which they are sent.
    package static let keys = ["id", "account"] + PhotoField.all.map(\.key)

    /// The entries with a known value, in the order of ``keys``.
    package var values: [(key: String, value: Variant)] {
        let names: [Variant] = [.string(id), .objectPath(account)]
        return zip(Self.keys, names).map { ($0, $1) }
            + PhotoField.all.compactMap { field in field.variant(of: photo).map { (field.key, $0) }
            }
    }

    /// The value of a key in its D-Bus form; nil if it is unknown.
    package subscript(key: String) -> Variant? { values.first { $0.key == key }?.value }

    // MARK: Sending

    package func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        if isNamed {
            try encoder.entry(Self.id, id)
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
                    encoder.entry(head, get(photo)?.fromTopLeft)
                }
            }
        }
    }
}

extension FocalPoint {
    /// The point as fractions of the width and the height, from the top left corner.
    fileprivate var fromTopLeft: (Double, Double) { ((x + 1) / 2, (1 - y) / 2) }
}

extension PhotoField {
    /// Sets the property to a value of the bus. An empty text, and a value of another type, mean "unknown".
    fileprivate func set(_ variant: Variant, in photo: inout Photo) {
        switch (value, variant) {
        case (.time(_, let set), .int64(let seconds)):
            set(&photo, Timestamp(secondsSince1970: seconds))
        case (.count(_, let set), .uint32(let count)): set(&photo, Int(count))
        case (.number(_, _, let set), .double(let number)): set(&photo, number)
        case (.flag(_, let set), .bool(let flag)): set(&photo, flag)
        case (.text(_, _, let set), .string(let text)): set(&photo, text.isEmpty ? nil : text)
        case (.point(_, let set), .structure(let fields)):
            guard fields.count == 2, case .double(let x) = fields[0],
                case .double(let y) = fields[1]
            else { return }
            set(&photo, FocalPoint(x: 2 * x - 1, y: 1 - 2 * y))
        default: break
        }
    }

    /// Returns the value of the property on the bus; nil if it is unknown.
    fileprivate func variant(of photo: Photo) -> Variant? {
        switch value {
        case .time(let get, _): get(photo).map { .int64($0.secondsSince1970) }
        case .count(let get, _): get(photo).map { .uint32(UInt32(clamping: $0)) }
        case .number(_, let get, _): get(photo).map { .double($0) }
        case .flag(let get, _): get(photo).map { .bool($0) }
        case .text(_, let get, _): get(photo).map { .string($0) }
        case .point(let get, _):
            get(photo).map { point in
                let (x, y) = point.fromTopLeft
                return .structure([.double(x), .double(y)])
            }
        }
    }
}
