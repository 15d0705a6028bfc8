/// Reads the header of a HEIF or AVIF file: items with properties. The size is that of the primary item, cropped and
/// rotated as its properties state. EXIF is a separate item; its orientation is ignored.
///
/// Source: ISO/IEC 14496-12 §8.11; ISO/IEC 23008-12 §6, Annex A.
func readHEIF(_ source: some ByteSource) -> ImageHeader? {
    let file = Chunk.boxes(in: source, 0..<source.count)
    guard let meta = file.first("meta"), meta.contents.count >= 4 else { return nil }
    // The contents begin with a version and flags.
    let boxes = Chunk.boxes(in: source, meta.contents.lowerBound + 4..<meta.contents.upperBound)
    guard let primary = boxes.first("pitm")?.read(source),
        let id = primary.number(at: 4, primary.number(at: 0, 1) == 0 ? 2 : 4),
        let container = boxes.first("iprp")
    else { return nil }
    let properties = Chunk.boxes(in: source, container.contents)
    guard let list = properties.first("ipco") else { return nil }
    let all = Chunk.boxes(in: source, list.contents)
    let indices = properties.filter { $0.type == "ipma" }.compactMap { $0.read(source) }
        .flatMap { propertyIndices(of: id, $0) }
    var size: (width: Int, height: Int)?
    for index in indices where all.indices.contains(index - 1) {
        let property = all[index - 1]
        guard let bytes = property.read(source) else { continue }
        if property.type == "ispe", let width = bytes.number(at: 4, 4),
            let height = bytes.number(at: 8, 4)
        {
            size = (width, height)
        } else if property.type == "clap" {
            // Two fractions, which libheif rounds.
            let numbers = (0..<4).map { bytes.number(at: $0 * 4, 4) ?? 0 }
            guard numbers[1] > 0, numbers[3] > 0 else { continue }
            size = (
                (numbers[0] + numbers[1] / 2) / numbers[1],
                (numbers[2] + numbers[3] / 2) / numbers[3]
            )
        } else if property.type == "irot", let before = size, let angle = bytes.number(at: 0, 1),
            angle & 1 == 1
        {
            size = (before.height, before.width)
        }
    }
    guard let size else { return nil }
    var header = ImageHeader(width: size.width, height: size.height)
    // The block follows a prefix, whose length some programs count in other ways.
    let block = item("Exif", source, boxes)
    let starts = [4 + (block?.number(at: 0, 4) ?? 0), 4, 0]
    let exif = starts.lazy.compactMap { start in
        block.flatMap { Part($0, start, $0.count) }.flatMap { Exif($0) }
    }
    header.setOrigin(exif.first, item("mime", source, boxes))
    header.isAnimated = hasSeveralSamples(source, file)
    return header
}

/// Returns true if the first track of a movie, such as an image sequence, has several samples.
private func hasSeveralSamples(_ source: some ByteSource, _ file: [Chunk]) -> Bool {
    let tables = ["moov", "trak", "mdia", "minf", "stbl"].reduce(file) { boxes, name in
        boxes.first(name).map { Chunk.boxes(in: source, $0.contents) } ?? []
    }
    // Preceded by version and flags, and the size of all samples.
    guard let sizes = tables.first("stsz") else { return false }
    return source.number(at: sizes.contents.lowerBound + 8, 4) ?? 0 > 1
}

/// Returns the indices of the properties of an item, counted from 1.
private func propertyIndices(of item: Int, _ table: Bytes) -> [Int] {
    var reader = NumberReader(bytes: table)
    guard let version = reader.number(1), let flags = reader.number(3),
        let count = reader.number(4)
    else { return [] }
    let indexBytes = flags & 1 == 0 ? 1 : 2
    for _ in 0..<count {
        guard let id = reader.number(version == 0 ? 2 : 4), let properties = reader.number(1)
        else { return [] }
        if id == item {
            // The highest bit marks an essential property.
            let mask = indexBytes == 1 ? 0x7f : 0x7fff
            return (0..<properties).compactMap { _ in reader.number(indexBytes).map { $0 & mask } }
        }
        reader.offset += properties * indexBytes
    }
    return []
}

/// Returns the contents of the first item of a type.
private func item(_ type: StaticString, _ source: some ByteSource, _ boxes: [Chunk]) -> Part? {
    guard let id = itemID(type, source, boxes), let locations = boxes.first("iloc")?.read(source),
        let (range, isInBox) = location(of: id, locations)
    else { return nil }
    guard isInBox else { return Part(source, range.lowerBound, range.count) }
    guard let data = boxes.first("idat")?.contents, range.upperBound <= data.count else {
        return nil
    }
    return Part(source, data.lowerBound + range.lowerBound, range.count)
}

private func itemID(_ type: StaticString, _ source: some ByteSource, _ boxes: [Chunk]) -> Int? {
    guard let list = boxes.first("iinf"),
        let version = source.number(at: list.contents.lowerBound, 1)
    else { return nil }
    let start = list.contents.lowerBound + (version == 0 ? 6 : 8)
    guard start <= list.contents.upperBound else { return nil }
    for entry in Chunk.boxes(in: source, start..<list.contents.upperBound)
    where entry.type == "infe" {
        guard let bytes = entry.read(source), let version = bytes.number(at: 0, 1), version >= 2
        else { continue }
        let idBytes = version == 2 ? 2 : 4
        // Preceded by version and flags (4 bytes), the item ID and an index (2 bytes).
        if bytes.hasText(type, at: 4 + idBytes + 2) { return bytes.number(at: 4, idBytes) }
    }
    return nil
}

/// Returns the range of an item, if it consists of one extent: in the file, or in the box `idat`.
private func location(of item: Int, _ table: Bytes) -> (range: Range<Int>, isInBox: Bool)? {
    var reader = NumberReader(bytes: table)
    guard let version = reader.number(1), version <= 2, reader.number(3) != nil,
        let widths = reader.number(2)
    else { return nil }
    let (offsetBytes, lengthBytes) = (widths >> 12, widths >> 8 & 15)
    let (baseBytes, indexBytes) = (widths >> 4 & 15, version == 0 ? 0 : widths & 15)
    let idBytes = version == 2 ? 4 : 2
    guard let count = reader.number(idBytes) else { return nil }
    for _ in 0..<count {
        guard let id = reader.number(idBytes), let method = reader.number(version > 0 ? 2 : 0),
            // A data reference index, and the base offset of all extents.
            reader.number(2) != nil, let base = reader.number(baseBytes),
            let extents = reader.number(2)
        else { return nil }
        guard id == item else {
            reader.offset += extents * (indexBytes + offsetBytes + lengthBytes)
            continue
        }
        reader.offset += indexBytes
        guard method & 15 <= 1, extents == 1, let start = reader.number(offsetBytes),
            let length = reader.number(lengthBytes)
        else { return nil }
        return (base + start..<base + start + length, method & 15 == 1)
    }
    return nil
}

/// A reader of consecutive numbers.
private struct NumberReader {
    let bytes: Bytes
    var offset = 0

    /// Reads the next number of `count` bytes; nil if the bytes end before it.
    mutating func number(_ count: Int) -> Int? {
        defer { offset += count }
        return bytes.number(at: offset, count)
    }
}
