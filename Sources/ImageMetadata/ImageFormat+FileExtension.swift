extension ImageFormat {
    /// The signatures of raw files that are no TIFF files, or have a signature of TIFF and one of their own.
    static let rawSignatures: [(offset: Int, text: StaticString, fileExtension: String)] = [
        (0, "FUJIFILMCCD-RAW", "raf"), (0, "IIRO", "orf"), (0, "IIRS", "orf"), (0, "MMOR", "orf"),
        (0, "IIU\0", "rw2"), (4, "ftypcrx ", "cr3"), (8, "CR", "cr2"),
    ]

    /// Returns the extension of the name of a file, without a dot, according to its content; nil if its type is unknown.
    ///
    /// Sources: the registrations of the media types; TIFF 6.0 §2; Adobe DNG 1.7, tag DNGVersion; libexif's and
    /// exiftool's documentation of the raw formats of cameras, which are TIFF files with other signatures or makers.
    package static func fileExtension(of file: some ByteSource) -> String? {
        let prefix = file.bytes(at: 0, min(file.count, prefixBytes))?.array ?? []
        switch ImageFormat(original: prefix) {
        case .raw:
            return rawSignatures.first { file.hasText($0.text, at: $0.offset) }?.fileExtension
        case .tiff: return TIFFTable(firstOf: file)?.rawFileExtension ?? tiff.fileExtension
        case let format?: return format.fileExtension
        // The brand of image sequences of any codec.
        case nil: return file.hasText("ftypmsf1", at: 4) ? "heif" : nil
        }
    }
}

extension TIFFTable {
    /// The extension of the names of raw files with such a first table; nil for other files.
    fileprivate var rawFileExtension: String? {
        if has(0xc612) { return "dng" }
        // A raw file has a small image first, and the sensor's data in another one.
        guard has(0x14a), let maker = text(0x10f) else { return nil }
        let name = String(decoding: maker, as: UTF8.self).uppercased()
        return [("NIKON", "nef"), ("SONY", "arw"), ("PENTAX", "pef"), ("SAMSUNG", "srw")]
            .first { name.hasPrefix($0.0) }?.1
    }
}
