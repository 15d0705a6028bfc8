internal import ImageMetadata
internal import ProviderKit

extension PhotoID {
    /// Creates the ID of a row of the index: 16 hexadecimal digits.
    init(row: Int64) { self.init(UInt64(bitPattern: row).hexDigits) }

    /// The row of the index; nil for IDs of another form.
    var row: Int64? {
        guard text.utf8.count == 16, let row = UInt64(text, radix: 16),
            PhotoID(row: Int64(bitPattern: row)) == self
        else { return nil }
        return Int64(bitPattern: row)
    }
}

extension Photo {
    /// Creates a photo from the index, without decoding the file. Sources are ordered by modification time, so that new
    /// photos are at the top even if they were taken long ago; `created` is therefore not always in order.
    ///
    /// - Parameters:
    ///   - entry: The row of the photo.
    ///   - showsLocation: True if the user allows the location.
    init(_ entry: PictureIndex.PageEntry, showsLocation: Bool) {
        self.init(id: PhotoID(row: entry.id))
        created = Timestamp(nanoseconds: entry.published)
        if let facts = entry.facts { setFacts(facts) }
        if !showsLocation { (latitude, longitude) = (nil, nil) }
        if entry.album != .root { album = entry.album.title }
        updated = Timestamp(nanoseconds: entry.modified)
        let ending = entry.name.lastIndex(of: UInt8(ascii: ".")) ?? entry.name.endIndex
        let name = String(decoding: entry.name[..<ending], as: UTF8.self)
        // A name may contain line breaks.
        setTitle(ServiceText.line(name))
        mediaType = entry.format?.mediaType
    }
}

extension Timestamp {
    /// Rounds down, also for times before 1970.
    init(nanoseconds: Int64) {
        let seconds = nanoseconds / 1_000_000_000
        self.init(secondsSince1970: nanoseconds % 1_000_000_000 < 0 ? seconds - 1 : seconds)
    }
}
