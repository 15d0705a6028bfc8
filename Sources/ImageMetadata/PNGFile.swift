/// A writer of PNG files of one color, and a reader of the texts in PNG files. Neither needs a decoder.
///
/// Source: PNG, third edition, §5, §10, §11.3.3.3; RFC 1950, RFC 1951 §3.2.4.
package enum PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// The number of chunks that are read. A limit that no ordinary file reaches.
    private static let mostChunks = 100_000

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
        for chunk in Chunk.png(source).prefix(mostChunks) {
            // The last chunk should be empty.
            if chunk.type == "IEND" { return chunk.contents.count <= source.count ? texts : nil }
            if ["tEXt", "iTXt"].contains(chunk.type), chunk.contents.count <= 1 << 16,
                let (key, text) = text(source, chunk, nil)
            {
                texts[key] = String(decoding: text.array, as: UTF8.self)
            }
        }
        return nil
    }

    /// Returns true if a file contains the chunk of its end.
    static func hasEnd(_ source: some ByteSource) -> Bool {
        // In most files it is at the very end.
        source.hasText("IEND", at: source.count - 8)
            || Chunk.png(source).prefix(mostChunks).contains { $0.type == "IEND" }
    }

    /// Returns the chunks before the end, without reading all parts of a large image.
    static func metadata(_ source: some ByteSource) -> [Chunk] {
        var chunks: [Chunk] = []
        var rest = Chunk.png(source)
        while chunks.count < mostChunks, let chunk = rest.next(), chunk.type != "IEND" {
            chunks.append(chunk)
            if chunk.type == "IDAT" { rest = Chunk.png(source, from: endOfParts(chunk, source)) }
        }
        return chunks
    }

    /// Returns the offset after a part of an image and the following parts of the same length. Most encoders write all
    /// parts but the last one with the same length, so that a binary search finds it.
    private static func endOfParts(_ part: Chunk, _ source: some ByteSource) -> Int {
        let (start, length) = (part.contents.lowerBound - 8, part.contents.count + 12)
        let head = source.bytes(at: start, 8)?.array ?? []
        func isPart(_ index: Int) -> Bool {
            source.bytes(at: start + index * length, 8)?.array == head
        }
        var (last, limit) = (0, 1)
        while isPart(limit) { (last, limit) = (limit, 2 * limit) }
        while limit - last > 1 {
            let middle = (last + limit) / 2
            if isPart(middle) { last = middle } else { limit = middle }
        }
        return start + (last + 1) * length
    }

    /// Splits a chunk `tEXt`, `zTXt` or `iTXt` into a key and its text. In `iTXt`, compression flags, a language and a
    /// translated key are between the two.
    static func text(
        _ source: some ByteSource, _ chunk: Chunk, _ decompressor: Decompressor?
    ) -> (key: String, text: Bytes)? {
        guard let data = chunk.read(source)?.array, let keyEnd = data.firstIndex(of: 0) else {
            return nil
        }
        var text = data[(keyEnd + 1)...]
        var isCompressed = false
        if chunk.type == "zTXt" {
            isCompressed = true
            text = text.dropFirst()
        } else if chunk.type == "iTXt" {
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
