/// Reads the header of a PNG file: a sequence of chunks, one of which has the size. Texts may contain EXIF, XMP or the
/// time of capture.
///
/// Source: PNG, third edition, §5.3, §11.2.1, §11.3.3.
func readPNG(_ source: some ByteSource, _ decompressor: Decompressor?) -> ImageHeader? {
    var header: ImageHeader?
    var exif: Exif?
    var xmp: Bytes?
    var time: CivilTime?
    var isAnimated = false
    var hasPixels = false
    var isOfXcode = false
    for chunk in PNGFile.metadata(source) {
        let offset = chunk.contents.lowerBound
        switch chunk.type {
        case "IHDR":
            if header == nil, let width = source.number(at: offset, 4),
                let height = source.number(at: offset + 4, 4)
            {
                header = ImageHeader(width: width, height: height)
            }
        case "CgBI": isOfXcode = true
        case "IDAT": hasPixels = true
        case "acTL" where !hasPixels: isAnimated = source.number(at: offset, 4) ?? 0 > 1
        case "eXIf": exif = Part(source, offset, chunk.contents.count).flatMap { Exif($0) }
        case "tEXt", "zTXt", "iTXt":
            guard let (key, text) = PNGFile.text(source, chunk, decompressor) else { break }
            switch key.lowercased() {
            case "xml:com.adobe.xmp": xmp = text
            case "raw profile type exif", "raw profile type app1", "raw profile type xmp":
                let profile = rawProfile(text)
                if let block = profile.flatMap({ Exif($0) }) {
                    exif = exif ?? block
                } else {
                    xmp = xmp ?? profile
                }
            case "raw profile type iptc":
                time = time ?? rawProfile(text).flatMap { readIPTCTime($0) }
            case "creation time", "exif:datetimeoriginal":
                time = CivilTime(internetDate: String(decoding: text.array, as: UTF8.self))
            default: break
            }
        default: break
        }
    }
    header?.setOrigin(exif, xmp, time)
    header?.orientation = exif?.orientation ?? .upright
    header?.isAnimated = isAnimated
    if isOfXcode { header?.unsupportedKind = "PNG images of Xcode (CgBI)" }
    return header
}

/// Reads metadata that ImageMagick wrote as text: a name, the length, and hexadecimal digits.
private func rawProfile(_ text: Bytes) -> Bytes? {
    let lines = text.array.split(separator: UInt8(ascii: "\n"))
    let digits = lines.dropFirst(2).joined().compactMap {
        Character(UnicodeScalar($0)).hexDigitValue
    }
    guard digits.count > 1, digits.count % 2 == 0 else { return nil }
    return Bytes(
        stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
}
