/// A writer of PNG files of one color, and a reader of the texts in PNG files. Neither needs a decoder.
///
/// Source: PNG, third edition, §5, §10, §11.3.3.3; RFC 1950, RFC 1951 §3.2.4.
package enum PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Returns a file with an image of one color.
    ///
    /// - Parameters:
    ///   - color: The color of all pixels, `0xRRGGBB`.
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - texts: Written as `tEXt` chunks; keys and texts are ASCII.
    /// - Returns: The bytes of the file.
    package static func plain(
        _ color: UInt32, width: Int, height: Int, texts: [String: String] = [:]
    ) -> [UInt8] {
        var file = signature
        // One bit per pixel, indexes into a palette of one color.
        append("IHDR", bigEndian(width) + bigEndian(height) + [1, 3, 0, 0, 0], to: &file)
        append("PLTE", Array(bigEndian(Int(color)).suffix(3)), to: &file)
        file += chunks(texts)
        // Each row consists of the filter type 0, none, and zeros.
        append("IDAT", zeros(height * (1 + (width + 7) / 8)), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// Returns the chunks `tEXt` of texts.
    ///
    /// - Parameter texts: Keys and texts are ASCII.
    /// - Returns: The bytes of the chunks.
    package static func chunks(_ texts: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            append("tEXt", Array(key.utf8) + [0] + Array(text.utf8), to: &bytes)
        }
        return bytes
    }

    /// Reads the texts that are not compressed of a file; nil if it is not a complete PNG file.
    package static func texts(_ source: some ByteSource) -> [String: String]? {
        guard source.bytes(at: 0, 8)?.array == signature else { return nil }
        var texts: [String: String] = [:]
        let end = readChunks(source) { head, offset, length in
            let isPlain = head.hasText("tEXt", at: 4)
            if isPlain || head.hasText("iTXt", at: 4), length <= 1 << 16,
                let (key, text) = text(source, head, offset, length, nil)
            {
                texts[key] = String(decoding: text.array, as: UTF8.self)
            }
        }
        guard let end, end <= source.count else { return nil }
        return texts
    }

    /// Calls `body` with the length and type of each chunk, the offset of its data, and the length.
    ///
    /// - Returns: The length of the chunk `IEND`, which should be 0; nil if the file ends before it.
    static func readChunks(
        _ source: some ByteSource, _ body: (_ head: Bytes, _ offset: Int, _ length: Int) -> Void
    ) -> Int? {
        var offset = 8
        for _ in 0..<100_000 {
            guard let head = source.bytes(at: offset, 8), let length = head.number(at: 0, 4) else {
                break
            }
            if head.hasText("IEND", at: 4) { return length }
            body(head, offset + 8, length)
            offset += 12 + length
        }
        return nil
    }

    /// Calls `body` as ``readChunks(_:_:)``, without reading all parts of a large image: after the first one, only
    /// metadata in the last 16 KB.
    static func readMetadata(
        _ source: some ByteSource, _ body: (_ head: Bytes, _ offset: Int, _ length: Int) -> Void
    ) {
        let tailBytes = 16 << 10
        var offset = 8
        for _ in 0..<1000 {
            guard let head = source.bytes(at: offset, 8), let length = head.number(at: 0, 4),
                !head.hasText("IEND", at: 4)
            else { return }
            body(head, offset + 8, length)
            offset += 12 + length
            let start = source.count - tailBytes
            guard head.hasText("IDAT", at: 4), start - offset > tailBytes,
                let tail = source.bytes(at: start, tailBytes)
            else { continue }
            for type in ["eXIf", "iTXt", "tEXt", "zTXt"] {
                for found in tail.array.ranges(of: Array(type.utf8)) {
                    guard let head = tail.bytes(at: found.lowerBound - 4, 8),
                        let length = head.number(at: 0, 4), length < tailBytes
                    else { continue }
                    body(head, start + found.upperBound, length)
                }
            }
            return
        }
    }

    /// Splits a chunk `tEXt`, `zTXt` or `iTXt` into a key and its text. In `iTXt`, compression flags, a language and a
    /// translated key are between the two.
    static func text(
        _ source: some ByteSource, _ head: Bytes, _ offset: Int, _ length: Int,
        _ decompressor: Decompressor?
    ) -> (key: String, text: Bytes)? {
        guard length <= 1 << 20, let data = source.bytes(at: offset, length)?.array,
            let keyEnd = data.firstIndex(of: 0)
        else { return nil }
        var text = data[(keyEnd + 1)...]
        var isCompressed = false
        if head.hasText("zTXt", at: 4) {
            isCompressed = true
            text = text.dropFirst()
        } else if head.hasText("iTXt", at: 4) {
            isCompressed = text.first == 1
            let parts = text.dropFirst(2)
                .split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            text = parts[2]
        }
        let inflated = isCompressed ? decompressor?(.zlib, Array(text)) : Array(text)
        guard let inflated else { return nil }
        return (String(decoding: data[..<keyEnd], as: UTF8.self), Bytes(inflated))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian, Array.init)
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + data
        file += bigEndian(data.count) + body + bigEndian(Int(crc(body)))
    }

    /// Returns zeros as a zlib stream without compression.
    private static func zeros(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        var rest = count
        repeat {
            let block = min(rest, 0xffff)
            rest -= block
            let length = UInt16(block)
            bytes.append(rest == 0 ? 1 : 0)
            for number in [length, ~length] {
                withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
            }
            bytes += [UInt8](repeating: 0, count: block)
        } while rest > 0
        // Adler-32 of zeros: the low sum stays 1, the high sum is their number.
        return bytes + bigEndian((count % 65_521) << 16 | 1)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
        }
        return ~value
    }
}
