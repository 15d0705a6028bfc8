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
    /// Creates a photo from the index, without decoding the file.
    ///
    /// - Parameters:
    ///   - file: The row of the photo.
    ///   - showsLocation: True if the user allows the location.
    init(_ file: PictureIndex.File, showsLocation: Bool) {
        self.init(id: PhotoID(row: file.id))
        created = Timestamp(nanoseconds: file.stamp.shownTime)
        if let facts = file.facts { setFacts(facts) }
        if !showsLocation { (latitude, longitude) = (nil, nil) }
        if file.folder != .root { album = file.folder.title }
        updated = Timestamp(nanoseconds: file.stamp.shownTime)
        // A name may contain line breaks.
        setTitle(ServiceText.line(String(decoding: Self.stem(file.name), as: UTF8.self)))
        mediaType = file.format?.mediaType
    }

    /// Returns a file name without its extension, which has up to five letters and digits, and at least one letter: that
    /// of `2024.05.06` is a part of a date.
    private static func stem(_ name: [UInt8]) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return name[...] }
        let characters = String(decoding: name[(dot + 1)...], as: UTF8.self)
        let isExtension =
            1...5 ~= characters.utf8.count
            && characters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            && characters.contains(where: \.isLetter)
        return isExtension ? name[..<dot] : name[...]
    }
}

extension Timestamp {
    /// Rounds down, also for times before 1970.
    init(nanoseconds: Int64) {
        let seconds = nanoseconds / 1_000_000_000
        self.init(secondsSince1970: nanoseconds % 1_000_000_000 < 0 ? seconds - 1 : seconds)
    }
}
