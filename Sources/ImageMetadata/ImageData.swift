/// The image data of a file: the parts that programs leave unchanged when they edit metadata.
package enum ImageData {
    /// Returns the ranges of the image data in a file, in their order; the whole file if its format has no known parts, or
    /// if it is damaged.
    package static func ranges(of source: some ByteSource) -> [Range<Int>] {
        let ranges: [Range<Int>] =
            switch ImageFormat(source) {
            case .jpeg: jpeg(source)
            case .png: contents(of: Chunk.png(source), ["IDAT", "fdAT"])
            case .webP: contents(of: Chunk.riff(source), ["VP8 ", "VP8L", "ALPH", "ANMF"])
            case .avif, .heic: heif(source)
            case .jpegXL: contents(of: Chunk.boxes(in: source, 0..<source.count), ["jxlc", "jxlp"])
            case .gif: gif(source)
            case .tiff: tiffPixels(source)
            case .bmp: source.number(at: 10, 4, isBigEndian: false).map { pixels(source, $0) } ?? []
            case .raw: preview(source)
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

    /// The first scan of the preview and everything after it.
    private static func preview(_ source: some ByteSource) -> [Range<Int>] {
        guard let range = ImageHeader(source, format: .raw)?.preview,
            let part = Part(source, range.lowerBound, range.count)
        else { return [] }
        return jpeg(part).map { $0.lowerBound + range.lowerBound..<range.upperBound }
    }

    /// The images without the blocks of comments and applications. Source: GIF89a §11–27.
    private static func gif(_ source: some ByteSource) -> [Range<Int>] {
        func tableBytes(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
        guard let flags = source.number(at: 10, 1) else { return [] }
        var offset = 13 + tableBytes(flags)
        var ranges = [13..<offset]
        while let kind = source.number(at: offset, 1), [0x21, 0x2c].contains(kind),
            ranges.count < 1 << 16
        {
            let start = offset
            let flags = kind == 0x2c ? source.number(at: offset + 9, 1) : nil
            offset += flags.map { 11 + tableBytes($0) } ?? 2
            while let length = source.number(at: offset, 1), length > 0 { offset += 1 + length }
            offset += 1
            if kind == 0x2c { ranges.append(start..<min(offset, source.count)) }
        }
        return ranges.count > 1 ? ranges : []
    }

    /// Everything from the first scan on. Source: ISO/IEC 10918-1 Annex B.
    private static func jpeg(_ source: some ByteSource) -> [Range<Int>] {
        var offset = 2
        while let marker = source.number(at: offset, 2), marker >> 8 == 0xff {
            switch marker {
            case 0xffda: return [offset..<source.count]
            case 0xffff: offset += 1
            default:
                guard let length = source.number(at: offset + 2, 2), length >= 2 else { return [] }
                offset += 2 + length
            }
        }
        return []
    }

    /// Returns the contents of boxes or chunks of some types.
    private static func contents(
        of boxes: some Sequence<Chunk>, _ types: Set<String>
    ) -> [Range<Int>] {
        boxes.filter { types.contains($0.type) }.map(\.contents)
    }

    /// The items other than metadata. Source: ISO/IEC 14496-12 §8.11.
    private static func heif(_ source: some ByteSource) -> [Range<Int>] {
        guard let meta = Chunk.boxes(in: source, 0..<source.count).first("meta"),
            meta.contents.count >= 4
        else { return [] }
        let boxes = Chunk.boxes(in: source, meta.contents.lowerBound + 4..<meta.contents.upperBound)
        guard let table = boxes.first("iloc")?.read(source), let list = boxes.first("iinf"),
            let version = source.number(at: list.contents.lowerBound, 1)
        else { return [] }
        var metadata: Set<Int> = []
        let start = list.contents.lowerBound + (version == 0 ? 6 : 8)
        for entry in Chunk.boxes(in: source, start..<max(start, list.contents.upperBound)) {
            guard let bytes = entry.read(source), let version = bytes.number(at: 0, 1),
                let id = bytes.number(at: 4, version == 2 ? 2 : 4)
            else { continue }
            let type = version == 2 ? 8 : 10
            if bytes.hasText("Exif", at: type) || bytes.hasText("mime", at: type) {
                metadata.insert(id)
            }
        }
        return extents(table, besides: metadata)
    }

    /// Reads the extents of items in the file; none of a malformed table.
    private static func extents(_ table: Bytes, besides omitted: Set<Int>) -> [Range<Int>] {
        var offset = 0
        func next(_ count: Int) -> Int? {
            defer { offset += count }
            return count == 0 ? 0 : table.number(at: offset, count)
        }
        guard let version = next(1), version <= 2, next(3) != nil, let widths = next(2) else {
            return []
        }
        let idBytes = version == 2 ? 4 : 2
        let indexBytes = version == 0 ? 0 : widths & 15
        var ranges: [Range<Int>] = []
        guard let count = next(idBytes) else { return [] }
        for _ in 0..<count {
            guard let id = next(idBytes), let method = next(version > 0 ? 2 : 0), next(2) != nil,
                let base = next(widths >> 4 & 15), let extents = next(2)
            else { return [] }
            for _ in 0..<extents {
                guard next(indexBytes) != nil, let start = next(widths >> 12),
                    let length = next(widths >> 8 & 15)
                else { return [] }
                // Items within the table itself are derived images, such as grids.
                if method & 15 == 0, length > 0, !omitted.contains(id) {
                    ranges.append(base + start..<base + start + length)
                }
            }
        }
        return ranges
    }
}
