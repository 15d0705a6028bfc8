/// The file name extension of an image, according to its first bytes.
///
/// Sources: the registrations of the media types; TIFF 6.0 §2; Adobe DNG 1.7, tag DNGVersion; libexif's and exiftool's
/// documentation of the raw formats of cameras, which are TIFF files with other signatures or makers.
package enum ImageFileType {
    /// The number of bytes that detection uses at most.
    package static let prefixBytes = 64 << 10

    /// Detects the type of a file.
    ///
    /// - Parameter bytes: The first bytes of the file.
    /// - Returns: The extension without a dot; nil if the type is unknown.
    package static func nameExtension(_ bytes: [UInt8]) -> String? {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { bytes.dropFirst(offset).starts(with: $0) }
        }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return "jpg" }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) { return "png" }
        if has("GIF8") { return "gif" }
        if has("RIFF"), has("WEBP", at: 8) { return "webp" }
        if has("BM") { return "bmp" }
        if bytes.starts(with: [0xff, 0x0a]) || has("JXL ", at: 4) { return "jxl" }
        if has("FUJIFILMCCD-RAW") { return "raf" }
        if has("IIRO") || has("IIRS") || has("MMOR") { return "orf" }
        if has("IIU\0") { return "rw2" }
        if has("ftyp", at: 4) {
            return brands.first { has($0.brand, at: 8) }?.nameExtension
                // A brand for images of any codec precedes the codec.
                ?? (has("mif1", at: 8) || has("msf1", at: 8) ? "heif" : nil)
        }
        if has("II*\0") || has("MM\0*") {
            return has("CR", at: 8) ? "cr2" : rawType(bytes) ?? "tif"
        }
        return nil
    }

    private static let brands: [(brand: StaticString, nameExtension: String)] = [
        ("avif", "avif"), ("avis", "avif"), ("crx ", "cr3"), ("heic", "heic"), ("heix", "heic"),
        ("hevc", "heic"), ("hevx", "heic"), ("heim", "heic"), ("heis", "heic"),
    ]

    /// Returns the type of a raw file with the signature of TIFF, according to the tags of its first image.
    private static func rawType(_ bytes: [UInt8]) -> String? {
        let isLittle = bytes[0] == UInt8(ascii: "I")
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - count else { return nil }
            return (0..<count).reduce(0) { value, index in
                value << 8 | Int(bytes[offset + (isLittle ? count - 1 - index : index)])
            }
        }
        guard let table = number(4, 4), let count = number(table, 2) else { return nil }
        var maker = ""
        var hasSubimages = false
        for index in 0..<min(count, 200) {
            let entry = table + 2 + index * 12
            switch number(entry, 2) {
            case 0xc612: return "dng"
            case 0x14a: hasSubimages = true
            case 0x10f:
                guard let length = number(entry + 4, 4), let offset = number(entry + 8, 4),
                    length > 4, length < 100, offset <= bytes.count - length
                else { continue }
                maker = String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
                    .uppercased()
            case nil: return nil
            default: continue
            }
        }
        // A raw file has a small image first, and the sensor's data in another one.
        guard hasSubimages else { return nil }
        return [("NIKON", "nef"), ("SONY", "arw"), ("PENTAX", "pef"), ("SAMSUNG", "srw")]
            .first { maker.hasPrefix($0.0) }?.1
    }
}
