/// Reads the header of a JPEG file: a sequence of marked segments. The frame header has the size, an APP1 segment may
/// contain EXIF.
///
/// Source: ITU-T T.81 Annex B.
func readJPEG(_ source: some ByteSource) -> ImageHeader? {
    var offset = 2
    var exif: Exif?
    var size: (width: Int, height: Int)?
    // A limit that no ordinary file reaches.
    for _ in 0..<2000 {
        guard let head = source.bytes(at: offset, 4), head.number(at: 0, 1) == 0xff,
            let marker = head.number(at: 1, 1), let length = head.number(at: 2, 2)
        else { break }
        switch marker {
        case 0xff:
            // A fill byte.
            offset += 1
            continue
        case 0x01, 0xd0...0xd8:
            offset += 2
            continue
        case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
            if size == nil, let frame = source.bytes(at: offset + 5, 4),
                let height = frame.number(at: 0, 2), let width = frame.number(at: 2, 2)
            {
                size = (width, height)
            }
        case 0xe1 where exif == nil:
            if length >= 8, let segment = source.bytes(at: offset + 4, length - 2),
                segment.hasText("Exif\0\0"), let block = segment.dropping(6)
            {
                exif = Exif(block)
            }
        default: break
        }
        // Pixels, or the end of the image, follow.
        guard marker != 0xda, marker != 0xd9, length >= 2 else { break }
        offset += 2 + length
    }
    guard let size else { return nil }
    var header = ImageHeader(width: size.width, height: size.height, exif)
    header.isWhole = hasJPEGEnd(source, after: offset)
    return header
}

/// Returns true if the marker of the end (EOI) follows. It does not occur in pixel data.
private func hasJPEGEnd(_ source: some ByteSource, after start: Int) -> Bool {
    // In most files it is at the very end.
    let end = max(0, source.count - 2)
    if source.number(at: end, 2) == 0xffd9 { return true }
    var offset = start
    while offset < source.count,
        let block = source.bytes(at: offset, min(256 << 10, source.count - offset))?.array
    {
        for index in block.indices.dropFirst() where block[index] == 0xd9 {
            if block[index - 1] == 0xff { return true }
        }
        // The marker may cross the boundary of two blocks.
        offset += max(1, block.count - 1)
        if block.count < 2 { break }
    }
    return false
}

/// Reads the header of a PNG file: a sequence of chunks, the first of which has the size.
///
/// Source: PNG, third edition, §5.3, §11.2.1, §11.3.3.5.
func readPNG(_ source: some ByteSource) -> ImageHeader? {
    guard let head = source.bytes(at: 8, 16), head.hasText("IHDR", at: 4),
        let width = head.number(at: 8, 4), let height = head.number(at: 12, 4)
    else { return nil }
    var header = ImageHeader(width: width, height: height)
    let end = PNGFile.readChunks(source) { head, offset, length in
        if head.hasText("eXIf", at: 4), length <= 1 << 20,
            let exif = source.bytes(at: offset, length).flatMap(Exif.init)
        {
            header = ImageHeader(width: width, height: height, exif)
        }
    }
    header.isWhole = end != nil
    return header
}

/// Reads the header of a WebP file, which is RIFF. The size is in the chunk `VP8X`, or in the header of the bitstream.
///
/// Source: RFC 9649 §2; RFC 6386 §9.1.
func readWebP(_ source: some ByteSource) -> ImageHeader? {
    var offset = 12
    var exif: Exif?
    var size: (width: Int, height: Int)?
    var isAnimated = false
    for _ in 0..<10_000 {
        guard let head = source.bytes(at: offset, 8),
            let length = head.number(at: 4, 4, isBigEndian: false)
        else { break }
        func number(_ position: Int, _ count: Int) -> Int? {
            source.number(at: offset + 8 + position, count, isBigEndian: false)
        }
        if head.hasText("VP8X"), let width = number(4, 3), let height = number(7, 3) {
            size = (width + 1, height + 1)
            isAnimated = number(0, 1).map { $0 & 2 != 0 } ?? false
        } else if head.hasText("VP8 "), size == nil, number(3, 3) == 0x2a_019d,
            let width = number(6, 2), let height = number(8, 2)
        {
            size = (width & 0x3fff, height & 0x3fff)
        } else if head.hasText("VP8L"), size == nil, number(0, 1) == 0x2f,
            let bits = number(1, 4)
        {
            size = (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        } else if head.hasText("EXIF"), 8...1 << 20 ~= length,
            let block = source.bytes(at: offset + 8, length)
        {
            // Some encoders write the prefix that JPEG uses.
            exif = (block.hasText("Exif\0\0") ? block.dropping(6) : block).flatMap(Exif.init)
        }
        offset += 8 + length + length % 2
    }
    guard let size else { return nil }
    var header = ImageHeader(width: size.width, height: size.height, exif)
    header.isAnimated = isAnimated
    return header
}

/// Reads the header of a GIF file, and its blocks up to the second frame.
///
/// Source: GIF89a §15, §18, §20, Appendix A.
func readGIF(_ source: some ByteSource) -> ImageHeader? {
    guard let head = source.bytes(at: 6, 4),
        let width = head.number(at: 0, 2, isBigEndian: false),
        let height = head.number(at: 2, 2, isBigEndian: false)
    else { return nil }
    var header = ImageHeader(width: width, height: height)
    header.isAnimated = hasSecondFrame(source)
    return header
}

/// Returns true if a GIF file has a second frame. Its blocks are not decoded.
private func hasSecondFrame(_ source: some ByteSource) -> Bool {
    func byte(_ offset: Int) -> Int? { source.number(at: offset, 1) }
    func tableBytes(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
    guard let flags = byte(10) else { return false }
    var offset = 13 + tableBytes(flags)
    var frames = 0
    // A limit that no ordinary file reaches: a frame of 16 MB.
    var remaining = 65_536
    while remaining > 0, let kind = byte(offset) {
        switch kind {
        case 0x21: offset += 2
        case 0x2c:
            frames += 1
            guard frames < 2, let flags = byte(offset + 9) else { return frames == 2 }
            offset += 11 + tableBytes(flags)
        default: return false
        }
        while remaining > 0, let length = byte(offset) {
            remaining -= 1
            offset += 1 + length
            if length == 0 { break }
        }
    }
    return false
}

/// Reads the header of a Windows bitmap. The oldest header has narrower fields. A negative height means that the top
/// row comes first.
func readBMP(_ source: some ByteSource) -> ImageHeader? {
    guard let head = source.bytes(at: 14, 12),
        let length = head.number(at: 0, 4, isBigEndian: false)
    else { return nil }
    let fieldBytes = length == 12 ? 2 : 4
    guard let width = head.number(at: 4, fieldBytes, isBigEndian: false),
        let height = head.number(at: 4 + fieldBytes, fieldBytes, isBigEndian: false)
    else { return nil }
    let isTopDown = fieldBytes == 4 && height > Int(Int32.max)
    return ImageHeader(width: width, height: isTopDown ? 1 << 32 - height : height)
}

func readTIFF(_ source: some ByteSource) -> ImageHeader? {
    guard let exif = Exif(source), let size = exif.size else { return nil }
    return ImageHeader(width: size.width, height: size.height, exif)
}
