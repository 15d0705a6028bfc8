/// The image data of a file: the parts that programs leave unchanged when they edit metadata.
extension ImageFormat {
    /// Returns the ranges of the image data in a file, in their order; the whole file if its format has no known parts, or
    /// if it is damaged.
    package static func dataRanges(of source: some ByteSource) -> [Range<Int>] {
        let ranges: [Range<Int>] =
            switch ImageFormat(source) {
            case .jpeg: scans(source, .jpeg)
            case .png: contents(of: Chunk.png(source), ["IDAT", "fdAT"])
            case .webP: contents(of: Chunk.riff(source), ["VP8 ", "VP8L", "ALPH", "ANMF"])
            case .avif, .heic: heifItems(source)
            case .jpegXL: contents(of: Chunk.boxes(in: source, 0..<source.count), ["jxlc", "jxlp"])
            case .gif: gifBlocks(source)
            case .tiff: tiffPixels(source)
            case .bmp: source.number(at: 10, 4, isBigEndian: false).map { pixels(source, $0) } ?? []
            case .raw: scans(source, .raw)
            case nil: []
            }
        let read = ranges.filter { $0.upperBound <= source.count }
        // The ranges of a malicious file may overlap.
        let isValid = !read.isEmpty && read.reduce(0) { $0 + $1.count } <= source.count
        return isValid ? read : [0..<source.count]
    }

    private static func pixels(_ source: some ByteSource, _ start: Int) -> [Range<Int>] {
        start < source.count ? [start..<source.count] : []
    }

    /// The first scan of a JPEG file or of the preview of a raw file, and everything after it.
    private static func scans(_ source: some ByteSource, _ format: ImageFormat) -> [Range<Int>] {
        guard let header = ImageHeader(source, format: format) else { return [] }
        let range = header.preview ?? 0..<source.count
        let start = range.lowerBound + header.pixelOffset
        guard start < range.upperBound, source.number(at: start, 2) == 0xffda else { return [] }
        return [start..<range.upperBound]
    }

    /// The images without the blocks of comments and applications. Source: GIF89a §11–27.
    private static func gifBlocks(_ source: some ByteSource) -> [Range<Int>] {
        guard let flags = source.number(at: 10, 1) else { return [] }
        var offset = 13 + colorTableBytes(flags)
        var ranges = [13..<offset]
        while let kind = source.number(at: offset, 1), [0x21, 0x2c].contains(kind),
            ranges.count < 1 << 16
        {
            let start = offset
            let flags = kind == 0x2c ? source.number(at: offset + 9, 1) : nil
            offset += flags.map { 11 + colorTableBytes($0) } ?? 2
            while let length = source.number(at: offset, 1), length > 0 { offset += 1 + length }
            offset += 1
            if kind == 0x2c { ranges.append(start..<min(offset, source.count)) }
        }
        return ranges.count > 1 ? ranges : []
    }

    /// Returns the contents of boxes or chunks of some types.
    private static func contents(
        of boxes: some Sequence<Chunk>, _ types: Set<String>
    ) -> [Range<Int>] {
        boxes.filter { types.contains($0.type) }.map(\.contents)
    }

    /// The items other than metadata. Source: ISO/IEC 14496-12 §8.11.
    private static func heifItems(_ source: some ByteSource) -> [Range<Int>] {
        let boxes = metadataBoxes(source, Chunk.boxes(in: source, 0..<source.count))
        guard let items = readItems(source, boxes), let table = boxes.first("iloc")?.read(source)
        else { return [] }
        let metadata = Set(items.filter { ["Exif", "mime"].contains($0.type) }.map(\.id))
        let (locations, isWhole) = readLocations(table)
        guard isWhole else { return [] }
        // Items within the table itself are derived images, such as grids.
        return locations.filter { $0.method == 0 && !metadata.contains($0.id) }
            .flatMap(\.extents).filter { !$0.isEmpty }
    }
}
