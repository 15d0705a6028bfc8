/// The images of a TIFF file: those of the list of tables, and those that a table refers to.
///
/// Source: TIFF 6.0 §2, §8; Adobe DNG 1.7.
extension TIFFTable {
    /// The tables of the images. Limits that no ordinary file reaches end a loop.
    fileprivate var images: [TIFFTable] {
        Array(sequence(first: self, next: \.next).prefix(8)).flatMap { [$0] + $0.tables(0x14a) }
    }

    /// True for a preview or a mask of another image.
    private var isReduced: Bool { (number(0xfe) ?? 0) & 5 != 0 || number(0xff) == 2 }

    /// The size in pixels.
    fileprivate var size: (width: Int, height: Int)? {
        guard let width = number(0x100), let height = number(0x101),
            max(width, height) <= Int(Int32.max)
        else { return nil }
        return (width, height)
    }

    /// The image that is shown: the first one, unless it is a preview of a larger one.
    fileprivate var main: TIFFTable {
        guard isReduced else { return self }
        func pixels(_ table: TIFFTable) -> Int { table.size.map { $0.width * $0.height } ?? 0 }
        return images.filter { !$0.isReduced }.max { pixels($0) < pixels($1) } ?? self
    }

    /// True for the values of a sensor: a color filter array, or linear values of DNG.
    private var isSensor: Bool { [32_803, 34_892].contains(number(0x106)) }

    /// True for the first table of a raw file with the signature of TIFF.
    var isRaw: Bool {
        // DNGVersion.
        if has(0xc612) || isSensor { return true }
        return tables(0x14a).contains(where: \.isSensor)
    }

    /// The range of a JPEG in the file.
    private var jpeg: Range<Int>? {
        // JpgFromRaw of Panasonic; the interchange format; an image of a single strip with a compression of JPEG.
        if let range = range(0x2e) { return range }
        let isJPEG = [6, 7].contains(number(0x103))
        guard let start = number(0x201) ?? (isJPEG ? number(0x111) : nil),
            let count = number(0x202) ?? number(0x117)
        else { return nil }
        return start..<start + count
    }

    /// The preview in the notes of Olympus. Offsets count from the beginning of the notes, those of the oldest ones from
    /// that of the file.
    private func olympusPreview(_ source: some ByteSource) -> Range<Int>? {
        let heads: [(text: StaticString, count: Int)] = [
            ("OLYMP\0", 8), ("OLYMPUS\0", 12), ("OM SYSTEM\0", 16),
        ]
        guard let range = table(0x8769)?.range(0x927c),
            let head = heads.first(where: { source.hasText($0.text, at: range.lowerBound) }),
            case let base = head.count == 8 ? 0 : range.lowerBound,
            let notes = Part(source, base, source.count),
            let table = TIFFTable(
                notes, at: range.lowerBound - base + head.count, isBigEndian: isBigEndian),
            let camera = table.table(0x2020)
                ?? table.range(0x2020).flatMap({
                    TIFFTable(notes, at: $0.lowerBound, isBigEndian: isBigEndian)
                }), let first = camera.number(0x101), let count = camera.number(0x102)
        else { return nil }
        return base + first..<base + first + count
    }

    /// The ranges of the JPEGs in a raw file.
    fileprivate func previews(_ source: some ByteSource) -> [Range<Int>] {
        images.compactMap(\.jpeg) + [olympusPreview(source)].compactMap(\.self)
    }
}

/// Returns the ranges of the strips or tiles of the image of a TIFF file; none of a malformed one.
func tiffPixels(_ source: some ByteSource) -> [Range<Int>] {
    guard let table = TIFFTable(firstOf: source)?.main else { return [] }
    let isTiled = table.has(0x144)
    let starts = table.numbers(isTiled ? 0x144 : 0x111, atMost: 1 << 17)
    let counts = table.numbers(isTiled ? 0x145 : 0x117, atMost: 1 << 17)
    guard starts.count == counts.count else { return [] }
    return zip(starts, counts).map { $0..<$0 + $1 }
}

/// Reads the header of a TIFF file.
func readTIFF(_ source: some ByteSource) -> ImageHeader? {
    guard let exif = Exif(source), let table = TIFFTable(firstOf: source) else { return nil }
    let main = table.main
    guard let size = main.size else { return nil }
    var header = ImageHeader(width: size.width, height: size.height)
    func part(_ tag: Int) -> Part? {
        table.range(tag).flatMap { Part(source, $0.lowerBound, $0.count) }
    }
    header.setOrigin(exif, part(0x2bc), part(0x83bb).flatMap { readIPTCTime($0) })
    header.orientation = main.number(0x112).flatMap(ImageOrientation.init) ?? .upright
    if main.offset != table.offset { header.tableOffset = main.offset }
    return header
}

/// Reads the header of a raw file of a camera: the largest preview, a JPEG, with the origin that the file states. nil
/// without a preview of at least 1,000 pixels.
///
/// Source: the documentation of exiftool; for CR3, that of Laurent Clévy.
func readRaw(_ source: some ByteSource) -> ImageHeader? {
    var previews: [Range<Int>] = []
    var exif: Exif?
    if source.hasText("FUJIFILMCCD-RAW"), let start = source.number(at: 84, 4),
        let count = source.number(at: 88, 4)
    {
        previews = [start..<start + count]
    } else if let table = TIFFTable(firstOf: source) {
        previews = table.previews(source)
        exif = Exif(source)
    } else {
        let boxes = Chunk.boxes(in: source, 0..<source.count)
        for box in boxes where box.type == "uuid" {
            // The identifier, eight bytes, and the head of the box `PRVW`.
            let start = box.contents.lowerBound + 24
            if source.hasText("PRVW", at: start + 4), let count = source.number(at: start + 20, 4) {
                previews.append(start + 24..<start + 24 + count)
            }
        }
        let movie = boxes.first("moov").map { Chunk.boxes(in: source, $0.contents) } ?? []
        for box in movie where box.type == "uuid" {
            let start = min(box.contents.lowerBound + 16, box.contents.upperBound)
            for box in Chunk.boxes(in: source, start..<box.contents.upperBound) {
                let part = Part(source, box.contents.lowerBound, box.contents.count)
                guard let table = part.flatMap({ Exif($0) }) else { continue }
                if box.type == "CMT1" { exif = table }
                guard box.type == "CMT2" else { continue }
                let camera = exif?.details.camera
                exif?.taken = table.taken
                exif?.details = table.details
                exif?.details.camera = camera
            }
        }
    }
    let headers = previews.compactMap { range -> ImageHeader? in
        guard let part = Part(source, range.lowerBound, range.count),
            part.number(at: 0, 2) == 0xffd8,
            var header = readJPEG(part), header.unsupportedKind == nil
        else { return nil }
        header.preview = range.clamped(to: 0..<source.count)
        return header
    }
    guard var header = headers.max(by: { $0.width * $0.height < $1.width * $1.height }),
        max(header.width, header.height) >= 1000
    else { return nil }
    if let exif {
        let taken = header.taken
        header.setOrigin(exif, Part?.none, taken)
        header.orientation = exif.orientation ?? header.orientation
    }
    return header
}
