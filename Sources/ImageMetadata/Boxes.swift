/// A box of an ISO base media file: its type, four characters, and the range of its contents.
///
/// Source: ISO/IEC 14496-12 §4.2.
struct Box {
    let type: [UInt8]
    /// The range of the contents in the file.
    let contents: Range<Int>

    func hasType(_ name: StaticString) -> Bool {
        name.withUTF8Buffer { type.elementsEqual($0) }
    }

    /// Reads the consecutive boxes in a range, up to the first malformed one.
    static func boxes(in source: some ByteSource, _ range: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        // A limit that no ordinary file reaches.
        while boxes.count < 4000, offset < range.upperBound,
            let head = source.bytes(at: offset, 8), var length = head.number(at: 0, 4)
        {
            var headBytes = 8
            if length == 1 {
                guard let long = source.bytes(at: offset + 8, 8)?.number(at: 0, 8) else { break }
                length = long
                headBytes = 16
            } else if length == 0 {
                length = range.upperBound - offset
            }
            guard length >= headBytes, length <= range.upperBound - offset,
                let type = head.bytes(at: 4, 4)
            else { break }
            boxes.append(
                Box(type: type.array, contents: offset + headBytes..<offset + length))
            offset += length
        }
        return boxes
    }

    /// Reads the contents; nil if they are larger than 1 MiB.
    func read(_ source: some ByteSource) -> Bytes? {
        contents.count <= 1 << 20 ? source.bytes(at: contents.lowerBound, contents.count) : nil
    }
}

extension [Box] {
    func first(_ name: StaticString) -> Box? { first { $0.hasType(name) } }
}
