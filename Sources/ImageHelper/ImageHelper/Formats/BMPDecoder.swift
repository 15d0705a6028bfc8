internal import Glibc
internal import ImageMetadata
internal import ImageProtocol

/// A decoder of Windows bitmaps with 1, 4, 8, 16, 24 or 32 bits, without compression or with RLE8 and RLE4. It needs no
/// library.
///
/// Source: BITMAPINFOHEADER, BITMAPV5HEADER, "Bitmap Compression" (Windows GDI).
struct BMPDecoder: ImageDecoder {
    static func load() -> BMPDecoder { BMPDecoder() }

    /// Returns the color from 0 to 255 in the bits of a mask.
    private static func color(_ pixel: UInt32, _ mask: UInt32) -> UInt8 {
        guard mask != 0 else { return 0 }
        let shift = UInt32(mask.trailingZeroBitCount)
        let limit = mask >> shift
        return UInt8(UInt64(pixel & mask) >> UInt64(shift) * 255 / UInt64(limit))
    }

    func decode(_ file: UnsafeRawBufferPointer, into image: ImageBuilder) throws(ImageFailure) {
        func number(_ offset: Int, _ count: Int) -> Int {
            file.number(at: offset, count, isBigEndian: false) ?? 0
        }
        let isOld = number(14, 4) == 12
        let headerBytes = number(14, 4)
        let storedBits = number(isOld ? 24 : 28, 2)
        // Of the header of OS/2, only the first 16 bytes are required.
        let compression = headerBytes < 20 ? 0 : number(30, 4)
        let isTopDown = !isOld && number(22, 4) > Int(Int32.max)
        let isCompressed = [1: 8, 2: 4][compression] == storedBits
        let bits = isCompressed ? 8 : storedBits
        // 0 is no compression; 3 and 6 are no compression with masks, except for the long header of OS/2.
        let hasMasks = [3, 6].contains(compression) && headerBytes != 64
        guard compression == 0 || isCompressed || hasMasks else {
            throw .notSupported("Compressed bitmaps are not supported; convert the image to PNG.")
        }
        guard [1, 4, 8, 16, 24, 32].contains(bits) else {
            throw .notSupported(
                "Bitmaps with \(bits) bits per pixel are not supported; convert the image to PNG.")
        }
        let (width, height) = (image.header.width, image.header.height)
        let entryBytes = isOld ? 3 : 4
        var start = number(10, 4)
        if start == 0 {
            // Some programs omit the offset of the pixels, which follow the masks and the table of colors.
            let colorCount = headerBytes < 36 ? 0 : number(46, 4)
            let maskBytes = hasMasks && headerBytes == 40 ? compression == 6 ? 16 : 12 : 0
            let fullCount = bits <= 8 ? 1 << storedBits : 0
            start =
                14 + headerBytes + maskBytes
                + (colorCount == 0 ? fullCount : colorCount) * entryBytes
        }
        guard start >= 14 + headerBytes, start < file.count else { throw .damaged }
        let colors = (0..<(bits <= 8 ? 1 << bits : 0)).map { index -> SIMD4<UInt8> in
            let entry = 14 + headerBytes + index * entryBytes
            guard entry + 3 <= start else { return [0, 0, 0, 255] }
            return [file[entry + 2], file[entry + 1], file[entry], 255]
        }
        var masks: [UInt32] = bits == 16 ? [0x7c00, 0x3e0, 0x1f, 0] : [0xff0000, 0xff00, 0xff, 0]
        if hasMasks {
            let hasAlpha = headerBytes >= 56 || compression == 6
            masks = (0..<4).map { $0 < 3 || hasAlpha ? UInt32(number(54 + $0 * 4, 4)) : 0 }
        }
        let stride = isCompressed ? width : (width * bits + 31) / 32 * 4
        let stored = UnsafeRawBufferPointer(rebasing: file[start...])
        let memory =
            try isCompressed
            ? ImageLimits.allocate(width: width, height: height, pixelBytes: 1) : nil
        defer { free(memory) }
        let pixels: UnsafeRawBufferPointer =
            memory.map {
                let bytes = $0.assumingMemoryBound(to: UInt8.self)
                let count = expand(stored, storedBits, into: bytes, width, height)
                return UnsafeRawBufferPointer(start: $0, count: count)
            } ?? stored
        let pixelBytes = max(1, bits / 8)
        func pixel(_ x: Int, _ line: Int) -> UInt32 {
            let offset = line + x * bits / 8
            guard offset + pixelBytes <= pixels.count else { return 0 }
            return (0..<pixelBytes).reduce(0) { $0 | UInt32(pixels[offset + $1]) << ($1 * 8) }
        }
        // Some programs describe alpha and do not write it.
        let alpha = masks[3]
        let hasAlpha =
            alpha != 0
            && (0..<height).contains { y in
                (0..<width).contains { pixel($0, y * stride) & alpha != 0 }
            }
        if !hasAlpha { masks[3] = 0 }
        var layout = RowLayout()
        // An embedded profile: LCS 'MBED', the offset in the header, and the length.
        if headerBytes == 124, number(70, 4) == 0x4d42_4544 {
            let (first, count) = (14 + number(126, 4), number(130, 4))
            if first + count <= file.count {
                layout.colors = .profile(Array(file[first..<first + count]))
            }
        }
        try image.begin(width: width, height: height, layout)
        var row = [UInt8](repeating: 255, count: width * 4)
        for y in 0..<height {
            let line = (isTopDown ? y : height - 1 - y) * stride
            for x in 0..<width {
                let color: SIMD4<UInt8>
                let value = pixel(x, line)
                if line + x * bits / 8 >= pixels.count {
                    color = .zero
                } else if bits <= 8 {
                    let shift = 8 - bits - x * bits % 8
                    color = colors[Int(value) >> shift & (1 << bits - 1)]
                } else {
                    color = [
                        Self.color(value, masks[0]), Self.color(value, masks[1]),
                        Self.color(value, masks[2]),
                        masks[3] == 0 ? 255 : Self.color(value, masks[3]),
                    ]
                }
                for channel in 0..<4 { row[x * 4 + channel] = color[channel] }
            }
            image.add(row)
        }
        if stride * height > pixels.count { throw .damaged }
    }

    /// Expands runs of pixels to one byte for each pixel, which is zero before.
    ///
    /// - Returns: The number of the bytes; fewer than there are pixels if the file ends before them.
    private func expand(
        _ file: UnsafeRawBufferPointer, _ bits: Int, into pixels: UnsafeMutablePointer<UInt8>,
        _ width: Int, _ height: Int
    ) -> Int {
        var bytes = file.makeIterator()
        var (x, y) = (0, 0)
        while y < height, let count = bytes.next(), let value = bytes.next() {
            switch (count, value) {
            case (0, 0): (x, y) = (0, y + 1)
            case (0, 1): return width * height
            case (0, 2):
                x += bytes.next().map(Int.init) ?? 0
                y += bytes.next().map(Int.init) ?? 0
            default:
                // A run, or pixels that are padded to an even number of bytes.
                var colors = value
                for index in 0..<Int(count > 0 ? count : value) {
                    if count == 0, bits == 8 || index % 2 == 0 { colors = bytes.next() ?? 0 }
                    let color =
                        bits == 8 ? colors : index % 2 == 0 ? colors >> 4 : colors & 15
                    if x < width { pixels[y * width + x] = color }
                    x += 1
                }
                if count == 0, (Int(value) * bits + 7) / 8 % 2 == 1 { _ = bytes.next() }
            }
        }
        return min(y * width + min(x, width), width * height)
    }
}
