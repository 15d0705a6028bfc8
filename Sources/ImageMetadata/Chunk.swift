/// A chunk of a PNG or RIFF file, or a box of an ISO base media file: its type, four characters, and the range of its
/// contents.
///
/// Source: PNG, third edition, §5; RFC 9649 §2.3; ISO/IEC 14496-12 §4.2.
package struct Chunk {
    package let type: String
    /// The range of the contents in the file. That of a chunk may exceed the file.
    package let contents: Range<Int>

    init(type: Bytes, contents: Range<Int>) {
        self.type = String(decoding: type.array, as: UTF8.self)
        self.contents = contents
    }

    /// Reads the consecutive boxes in a range, up to the first malformed one. A box that is longer than the rest of the
    /// range is cut.
    static func boxes(in source: some ByteSource, _ range: Range<Int>) -> [Chunk] {
        var boxes: [Chunk] = []
        var offset = range.lowerBound
        // A limit that no ordinary file reaches.
        while boxes.count < 4000, offset < range.upperBound,
            let head = source.bytes(at: offset, 8), var length = head.number(at: 0, 4)
        {
            var headBytes = 8
            if length == 1 {
                guard let long = source.number(at: offset + 8, 8) else { break }
                length = long
                headBytes = 16
            } else if length == 0 {
                length = range.upperBound - offset
            }
            length = min(length, range.upperBound - offset)
            guard length >= headBytes, let type = head.bytes(at: 4, 4) else { break }
            boxes.append(Chunk(type: type, contents: offset + headBytes..<offset + length))
            offset += length
        }
        return boxes
    }

    /// Reads the chunks of a PNG file, which are followed by a checksum, one by one.
    package static func png(
        _ source: some ByteSource, from start: Int = 8
    ) -> UnfoldSequence<Chunk, Int> {
        chunks(in: source, from: start, isPNG: true)
    }

    /// Reads the chunks of a RIFF file, which have an even length, one by one.
    package static func riff(_ source: some ByteSource) -> UnfoldSequence<Chunk, Int> {
        chunks(in: source, from: 12, isPNG: false)
    }

    private static func chunks(
        in source: some ByteSource, from start: Int, isPNG: Bool
    ) -> UnfoldSequence<Chunk, Int> {
        sequence(state: start) { offset in
            guard let head = source.bytes(at: offset, 8),
                let type = head.bytes(at: isPNG ? 4 : 0, 4),
                let length = head.number(at: isPNG ? 0 : 4, 4, isBigEndian: isPNG)
            else { return nil }
            let start = offset + 8
            offset = start + length + (isPNG ? 4 : length % 2)
            return Chunk(type: type, contents: start..<start + length)
        }
    }

    /// Reads the contents; nil if they are larger than 1 MiB.
    func read(_ source: some ByteSource) -> Bytes? {
        contents.count <= 1 << 20 ? source.bytes(at: contents.lowerBound, contents.count) : nil
    }
}

extension [Chunk] {
    func first(_ type: String) -> Chunk? { first { $0.type == type } }
}
