/// Reads the header of a HEIF or AVIF file: items with properties. The size is that of the primary item, cropped and
/// rotated as its properties state. EXIF is a separate item; its orientation is ignored.
///
/// Source: ISO/IEC 14496-12 §8.11; ISO/IEC 23008-12 §6, Annex A.
func readHEIF(_ source: some ByteSource) -> ImageHeader? {
    let file = Chunk.boxes(in: source, 0..<source.count)
    let boxes = metadataBoxes(source, file)
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
    let items = readItems(source, boxes) ?? []
    let locations = boxes.first("iloc")?.read(source).map { readLocations($0).items } ?? []
    // The metadata of other images, such as that of a gain map, may come first.
    let descriptions = descriptions(of: id, source, boxes)
    func first(_ candidates: [Item]) -> Part? {
        let item = candidates.first { descriptions.contains($0.id) } ?? candidates.first
        return locations.first { $0.id == item?.id }.flatMap { contents(at: $0, source, boxes) }
    }
    let block = first(items.filter { $0.type == "Exif" })
    let starts = [4 + (block?.number(at: 0, 4) ?? 0), 4, 0]
    let exif = starts.lazy.compactMap { start in
        block.flatMap { Part($0, start, $0.count) }.flatMap { Exif($0) }
    }
    let xmp = items.filter { $0.type == "mime" && $0.mediaType == "application/rdf+xml" }
    header.setOrigin(exif.first, first(xmp))
    header.isAnimated = hasSeveralSamples(source, file)
    return header
}

/// Returns the boxes in the box `meta` of a file, whose contents begin with a version and flags; none if there is no such
/// box.
func metadataBoxes(_ source: some ByteSource, _ file: [Chunk]) -> [Chunk] {
    guard let range = file.first("meta")?.contents, range.count >= 4 else { return [] }
    return Chunk.boxes(in: source, range.dropFirst(4))
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

/// Returns the IDs of the items that describe an image, its metadata.
private func descriptions(
    of image: Int, _ source: some ByteSource, _ boxes: [Chunk]
) -> Set<Int> {
    guard let range = boxes.first("iref")?.contents,
        let version = source.number(at: range.lowerBound, 1)
    else { return [] }
    let idBytes = version == 0 ? 2 : 4
    let references = Chunk.boxes(in: source, range.dropFirst(4)).filter { $0.type == "cdsc" }
    return Set(
        references.compactMap { reference in
            guard let bytes = reference.read(source), let id = bytes.number(at: 0, idBytes),
                let count = bytes.number(at: idBytes, 2)
            else { return nil }
            // A limit that no ordinary file reaches.
            let images = (0..<min(count, 256)).map {
                bytes.number(at: idBytes + 2 + $0 * idBytes, idBytes)
            }
            return images.contains(image) ? id : nil
        })
}

/// An item. The media type is that of an item of the type `mime`.
typealias Item = (id: Int, type: String, mediaType: String?)

/// Returns the items; nil without a table of them.
func readItems(_ source: some ByteSource, _ boxes: [Chunk]) -> [Item]? {
    guard let range = boxes.first("iinf")?.contents,
        let version = source.number(at: range.lowerBound, 1)
    else { return nil }
    let entries = Chunk.boxes(in: source, range.dropFirst(version == 0 ? 6 : 8))
    return entries.filter { $0.type == "infe" }.compactMap { entry in
        guard let bytes = entry.read(source), let version = bytes.number(at: 0, 1), version >= 2
        else { return nil }
        let idBytes = version == 2 ? 2 : 4
        // Preceded by version and flags (4 bytes), the item ID and an index (2 bytes).
        guard let id = bytes.number(at: 4, idBytes), let type = bytes.bytes(at: 6 + idBytes, 4)
        else { return nil }
        // The name precedes the media type.
        let texts = bytes.array.dropFirst(10 + idBytes)
            .split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        let mediaType = texts.dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
        return (id, String(decoding: type.array, as: UTF8.self), mediaType)
    }
}

/// Returns the contents of an item: in the file, or in the box `idat`; nil for several extents of more than 1 MiB.
private func contents(
    at place: ItemLocation, _ source: some ByteSource, _ boxes: [Chunk]
) -> Part? {
    let range = place.method == 0 ? 0..<source.count : boxes.first("idat")?.contents
    guard place.method <= 1, let range, let whole = Part(source, range.lowerBound, range.count)
    else { return nil }
    if place.extents.count == 1 {
        return Part(whole, place.extents[0].lowerBound, place.extents[0].count)
    }
    var bytes: [UInt8] = []
    for extent in place.extents {
        guard bytes.count + extent.count <= 1 << 20,
            let part = whole.bytes(at: extent.lowerBound, extent.count)
        else { return nil }
        bytes += part.array
    }
    return Part(Bytes(bytes), 0, bytes.count)
}

/// The place of an item: its extents in the file if the method is 0, in the box `idat` if it is 1.
typealias ItemLocation = (id: Int, method: Int, extents: [Range<Int>])

/// Reads the locations of items.
///
/// - Returns: The items before the first malformed one. True if there is none.
func readLocations(_ table: Bytes) -> (items: [ItemLocation], isWhole: Bool) {
    var items: [ItemLocation] = []
    var reader = NumberReader(bytes: table)
    guard let version = reader.number(1), version <= 2, reader.number(3) != nil,
        let widths = reader.number(2), let count = reader.number(version == 2 ? 4 : 2)
    else { return ([], false) }
    let (offsetBytes, lengthBytes) = (widths >> 12, widths >> 8 & 15)
    let (baseBytes, indexBytes) = (widths >> 4 & 15, version == 0 ? 0 : widths & 15)
    for _ in 0..<count {
        guard let id = reader.number(version == 2 ? 4 : 2),
            let method = reader.number(version > 0 ? 2 : 0),
            // A data reference index, and the base offset of all extents.
            reader.number(2) != nil, let base = reader.number(baseBytes),
            let extents = reader.number(2),
            // Several extents without a place would take no bytes.
            extents < 2 || offsetBytes + lengthBytes > 0
        else { return (items, false) }
        var ranges: [Range<Int>] = []
        for _ in 0..<extents {
            guard reader.number(indexBytes) != nil, let start = reader.number(offsetBytes),
                let length = reader.number(lengthBytes)
            else { return (items, false) }
            ranges.append(base + start..<base + start + length)
        }
        items.append((id, method & 15, ranges))
    }
    return (items, true)
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
