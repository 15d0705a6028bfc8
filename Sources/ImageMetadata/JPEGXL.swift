/// Reads the header of a JPEG XL file: a codestream, bare or in a box. Its orientation takes precedence over that of
/// EXIF.
///
/// Source: ISO/IEC 18181-1 Annex D; ISO/IEC 18181-2 §9.
func readJPEGXL(_ source: some ByteSource, _ decompressor: Decompressor?) -> ImageHeader? {
    var parts = [0..<source.count]
    var exif: Exif?
    var xmp: (any ByteSource)?
    if source.number(at: 0, 2) != 0xff0a {
        let boxes = Chunk.boxes(in: source, 0..<source.count)
        if let box = boxes.first("jxlc") {
            parts = [box.contents]
        } else {
            // The number of the part precedes its bytes.
            parts = boxes.filter { $0.type == "jxlp" }.map { $0.contents.dropFirst(4) }
        }
        for box in boxes {
            // A compressed box begins with the type of its contents.
            let isCompressed = box.type == "brob"
            let (first, count) = (box.contents.lowerBound, box.contents.count)
            let isEXIF = box.type == "Exif" || isCompressed && source.hasText("Exif", at: first)
            guard
                isEXIF || box.type == "xml " || isCompressed && source.hasText("xml ", at: first),
                let part = Part(source, first, count).flatMap({
                    Part($0, isCompressed ? 4 : 0, count)
                })
            else { continue }
            let contents: (any ByteSource)? =
                if isCompressed {
                    part.bytes(at: 0, min(part.count, 1 << 20))
                        .flatMap { decompressor?(.brotli, $0.array) }.map { Bytes($0) }
                } else {
                    part
                }
            guard let contents else { continue }
            if isEXIF, let skipped = contents.number(at: 0, 4) {
                exif = Part(contents, 4 + skipped, contents.count).flatMap { Exif($0) }
            } else {
                xmp = contents
            }
        }
    }
    var head: [UInt8] = []
    for part in parts where head.count < 18 {
        let bytes = source.bytes(at: part.lowerBound, min(part.count, 18 - head.count))
        head += bytes?.array ?? []
    }
    guard head.starts(with: [0xff, 0x0a]) else { return nil }
    var bits = BitReader(head.dropFirst(2))
    func size() -> (width: Int, height: Int) {
        let isSmall = bits.read(1) == 1
        func side() -> Int {
            if isSmall { return (bits.read(5) + 1) * 8 }
            return bits.read([9, 13, 18, 30][bits.read(2)]) + 1
        }
        let height = side()
        let ratio = bits.read(3)
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let width = ratio == 0 ? side() : height * ratios[ratio - 1].0 / ratios[ratio - 1].1
        return (width, height)
    }
    let stored = size()
    var header = ImageHeader(width: stored.width, height: stored.height)
    let isAllDefault = bits.read(1) == 1
    if !isAllDefault, bits.read(1) == 1,
        let orientation = ImageOrientation(rawValue: bits.read(3) + 1)
    {
        header.orientation = orientation
        // The size at which the image is meant to be shown.
        if bits.read(1) == 1 { _ = size() }
        // The header of a preview, which encoders do not write, would precede the second bit.
        header.isAnimated = bits.read(1) == 0 && bits.read(1) == 1
    }
    header.setOrigin(exif, xmp.flatMap { Part($0, 0, $0.count) })
    return bits.isExhausted ? nil : header
}

/// A reader of bits, from the lowest to the highest of each byte.
private struct BitReader {
    private var bits: UInt128
    private var remaining: Int

    /// - Parameter bytes: At most 16 bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        bits = bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
        remaining = bytes.count * 8
    }

    /// True if more bits were read than there are.
    var isExhausted: Bool { remaining < 0 }

    /// Reads a number. Bits after the end are zeros.
    mutating func read(_ count: Int) -> Int {
        defer {
            bits >>= count
            remaining -= count
        }
        return Int(bits & (1 << count - 1))
    }
}
