internal import BusAPI
internal import DBus

/// The properties of the slideshow on D-Bus.
struct SlideshowRecord {
    let properties: [String: Variant]

    init(_ properties: [String: Variant]) { self.properties = properties }

    /// The current photo; empty if there is none.
    var photo: [String: Variant] { properties["Photo"]?.members ?? [:] }
    /// The ID of the current photo in the combined account; nil if there is none.
    var photoID: String? { photo[photo: .id]?.string }
    /// The path of the current photo's image; empty if there is no current photo.
    var image: String { properties["Image"]?.string ?? "" }
    var interval: UInt32 { properties["Interval"]?.uint32 ?? 0 }
    var isPaused: Bool { properties["Paused"]?.bool ?? false }
    var isShuffled: Bool { properties["Shuffle"]?.bool ?? false }
    var imageSize: String { properties["ImageSize"]?.string ?? "" }
    /// The IDs of the hidden photos.
    var hidden: [String] { properties["Hidden"]?.strings ?? [] }

    var orientation: String { properties["Orientation"]?.string ?? "" }

    /// The sources in the form of the option `--source`: `combined`, or `ACCOUNT:SOURCE`.
    var sources: [String] {
        var sources = [properties["Source"]].compactMap(\.self)
        if case .array(let all, _) = properties["Sources"] { sources = all }
        return sources.compactMap { source in
            guard case .structure(let fields) = source, fields.count == 2,
                let account = fields[0].objectPath, let source = fields[1].string
            else { return nil }
            let name = account == ServiceName.combined ? "combined" : AccountRecord.id(of: account)
            return source.isEmpty ? name : "\(name):\(source)"
        }
    }
}
