/// Reads the header of a JPEG file: a sequence of marked segments. The frame header has the size, an APP1 segment may
/// contain EXIF or XMP, an APP13 segment the time in IPTC.
///
/// Source: ITU-T T.81 Annex B.
func readJPEG(_ source: some ByteSource) -> ImageHeader? {
    var offset = 2
    var exif: Exif?
    var xmp: Part?
    var time: CivilTime?
    var header: ImageHeader?
    var profile: (parts: [Int: Range<Int>], count: Int) = ([:], 0)
    // A limit that no ordinary file reaches.
    for _ in 0..<10_000 {
        guard let head = source.bytes(at: offset, 4), let marker = head.number(at: 1, 1),
            let length = head.number(at: 2, 2)
        else { break }
        func isMarker(_ first: UInt8, _ second: UInt8) -> Bool {
            first == 0xff && second != 0 && second != 0xff
        }
        guard isMarker(head.array[0], head.array[1]) else {
            // Decoders skip stray and fill bytes before a marker.
            let block = source.bytes(at: offset, min(1 << 16, source.count - offset))?.array ?? []
            offset += zip(block, block.dropFirst()).prefix { !isMarker($0, $1) }.count
            continue
        }
        switch marker {
        case 0x01, 0xd0...0xd8:
            // No length follows.
            offset += 2
            continue
        case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker), 0xf7:
            if header == nil, let frame = source.bytes(at: offset + 4, 6),
                let bits = frame.number(at: 0, 1), let height = frame.number(at: 1, 2),
                let width = frame.number(at: 3, 2), let channels = frame.number(at: 5, 1)
            {
                header = ImageHeader(width: width, height: height)
                header?.channels = channels
                // Lossless and hierarchical images, and JPEG-LS.
                let isRare = ![0xc0, 0xc1, 0xc2, 0xc9, 0xca].contains(marker)
                header?.unsupportedKind =
                    bits != 8
                    ? "JPEG images with \(bits) bits per color"
                    : isRare ? "Lossless and hierarchical JPEG images" : nil
            }
        case 0xe1:
            guard length >= 8, let segment = Part(source, offset + 4, length - 2) else { break }
            if exif?.taken == nil, segment.hasText("Exif\0"), let block = Exif(segment) {
                if exif == nil { exif = block }
                exif?.taken = block.taken
            } else if segment.hasText("http://ns.adobe.com/xap/1.0/\0"), XMP(xmp)?.taken == nil {
                xmp = segment
            }
        case 0xe2:
            // A part of the ICC profile, after its number and the count of the parts. Source: ICC.1:2022 Annex B.4.
            guard source.hasText("ICC_PROFILE\0", at: offset + 4), length >= 16,
                let number = source.number(at: offset + 16, 1),
                let count = source.number(at: offset + 17, 1), offset + 2 + length <= source.count
            else { break }
            profile.parts[number] = offset + 18..<offset + 2 + length
            profile.count = count
        case 0xed:
            time = time ?? Part(source, offset + 4, length - 2).flatMap { readIPTCTime($0) }
        default: break
        }
        // Pixels, or the end of the image, follow.
        guard marker != 0xda, marker != 0xd9, length >= 2 else { break }
        offset += 2 + length
    }
    header?.setOrigin(exif, xmp, time)
    header?.orientation = exif?.orientation ?? .upright
    header?.pixelOffset = offset
    let parts = (0..<profile.count).compactMap { profile.parts[$0 + 1] }
    if parts.count == profile.count { header?.profile = parts }
    return header
}

/// Reads the date and the time of creation in a block of IPTC, or else those of the digital image; nil if there is no
/// date. The offset of the time may be missing.
///
/// Source: IPTC-NAA Information Interchange Model 4, §6.
func readIPTCTime(_ source: some ByteSource) -> CivilTime? {
    let bytes = source.bytes(at: 0, min(source.count, 1 << 16))?.array ?? []
    /// Returns the value of the first field of a number whose length is possible.
    func field(_ number: UInt8, _ lengths: ClosedRange<UInt8>) -> ArraySlice<UInt8> {
        let values = bytes.occurrences(of: [0x1c, 2, number, 0]).lazy.map {
            bytes[$0.upperBound...]
        }
        let value = values.first { $0.first.map(lengths.contains) ?? false } ?? []
        return value.dropFirst().prefix(Int(value.first ?? 0))
    }
    for (date, time) in [(55, 60), (62, 63)] as [(UInt8, UInt8)] {
        let date = field(date, 8...8)
        guard !date.isEmpty, let time = CivilTime(date + field(time, 4...11)), time.isPlausible
        else { continue }
        return time
    }
    return nil
}

/// Returns true if the marker of the end (EOI) follows the header of a JPEG file. It does not occur in pixel data.
func hasJPEGEnd(_ source: some ByteSource, after start: Int) -> Bool {
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

/// Reads the header of a WebP file, which is RIFF. The size is in the chunk `VP8X`, or in the header of the bitstream.
///
/// Source: RFC 9649 §2; RFC 6386 §9.1.
func readWebP(_ source: some ByteSource) -> ImageHeader? {
    var exif: Exif?
    var xmp: Part?
    var size: (width: Int, height: Int)?
    var frameCount = 0
    var profile: [Range<Int>] = []
    var frame: Range<Int>?
    for chunk in Chunk.riff(source).prefix(10_000) {
        let start = chunk.contents.lowerBound
        func number(_ position: Int, _ count: Int) -> Int? {
            source.number(at: start + position, count, isBigEndian: false)
        }
        if chunk.type == "ANMF" { frameCount += 1 }
        if chunk.type == "VP8X", let width = number(4, 3), let height = number(7, 3) {
            size = (width + 1, height + 1)
        } else if chunk.type == "VP8 ", size == nil, number(3, 3) == 0x2a_019d,
            let width = number(6, 2), let height = number(8, 2)
        {
            size = (width & 0x3fff, height & 0x3fff)
        } else if chunk.type == "VP8L", size == nil, number(0, 1) == 0x2f,
            let bits = number(1, 4)
        {
            size = (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        } else if chunk.type == "EXIF" {
            exif = Part(source, start, chunk.contents.count).flatMap { Exif($0) }
        } else if chunk.type == "XMP " {
            xmp = Part(source, start, chunk.contents.count)
        } else if frame == nil, chunk.contents.upperBound <= source.count {
            if chunk.type == "ICCP" { profile = [chunk.contents] }
            if chunk.type == "ANMF", chunk.contents.count > 16 { frame = chunk.contents }
        }
    }
    guard let size else { return nil }
    var header = ImageHeader(width: size.width, height: size.height)
    header.setOrigin(exif, xmp)
    header.orientation = exif?.orientation ?? .upright
    header.isAnimated = frameCount > 1
    (header.profile, header.frame) = (profile, frame)
    return header
}

/// Reads the header of a GIF file, and its blocks up to the second frame. The image contains the whole first frame,
/// which may be larger than the size in the header.
///
/// Source: GIF89a §15, §18, §20, Appendix A.
func readGIF(_ source: some ByteSource) -> ImageHeader? {
    func number(_ offset: Int, _ count: Int) -> Int? {
        source.number(at: offset, count, isBigEndian: false)
    }
    guard let width = number(6, 2), let height = number(8, 2) else { return nil }
    var header = ImageHeader(width: width, height: height)
    guard let flags = number(10, 1) else { return header }
    var offset = 13 + colorTableBytes(flags)
    var frames = 0
    var isLoop = false
    var xmp: Part?
    // The data of 4 MB, of which the lengths of blocks are read, 16 KB. A larger first frame is followed by others if
    // the file states that it repeats.
    var remaining = 1 << 14
    while let kind = number(offset, 1) {
        switch kind {
        case 0x21:
            isLoop = isLoop || source.hasText("NETSCAPE2.0", at: offset + 3)
            if xmp == nil, source.hasText("XMP DataXMP", at: offset + 3) {
                xmp = Part(source, offset + 14, 1 << 16)
                header.setOrigin(nil, xmp)
            }
            offset += 2
        case 0x2c:
            frames += 1
            guard frames < 2, let left = number(offset + 1, 2), let top = number(offset + 3, 2),
                let columns = number(offset + 5, 2), let rows = number(offset + 7, 2),
                let flags = number(offset + 9, 1)
            else {
                header.isAnimated = frames == 2
                return header
            }
            header.width = max(width, left + columns)
            header.height = max(height, top + rows)
            offset += 11 + colorTableBytes(flags)
        case 0x3b: return header
        default:
            // Decoders skip stray bytes between blocks.
            offset += 1
            remaining -= 1
            guard remaining > 0 else { return header }
            continue
        }
        while let length = number(offset, 1) {
            offset += 1 + length
            remaining -= 1
            guard remaining > 0 else {
                header.isAnimated = isLoop
                return header
            }
            if length == 0 { break }
        }
    }
    return header
}

/// Returns the size of the table of colors that follows the flags of a GIF file or of its frame.
func colorTableBytes(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }

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
