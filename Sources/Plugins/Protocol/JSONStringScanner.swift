/// A scanner that finds the first byte of a JSON string that needs escaping. It examines eight bytes at a time, because
/// most of a message is strings.
enum JSONStringScanner {
    /// The number of bytes in a word.
    static let width = 8

    /// Returns a word in which each byte is `byte`.
    @inline(__always)
    private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 * UInt64(byte) }

    /// Returns a word in which the highest bit of a byte marks a quotation mark, a backslash or a control character.
    /// Marks above the lowest one may be wrong.
    @inline(__always)
    private static func marks(_ word: UInt64) -> UInt64 {
        let quotes = word ^ repeated(UInt8(ascii: "\""))
        let backslashes = word ^ repeated(UInt8(ascii: "\\"))
        let zeros =
            (quotes &- repeated(1)) & ~quotes | (backslashes &- repeated(1)) & ~backslashes
            | (word &- repeated(0x20)) & ~word
        return zeros & repeated(0x80)
    }

    /// Returns the number of leading bytes of a word that need no escaping, 0 to 8.
    @inline(__always)
    static func length(_ word: UInt64) -> Int { marks(word).trailingZeroBitCount / 8 }

    /// Returns true if all bytes of a word are ASCII.
    @inline(__always)
    static func isASCII(_ word: UInt64) -> Bool { word & repeated(0x80) == 0 }

    /// Returns true if a byte needs no escaping.
    @inline(__always)
    static func needsNoEscape(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Returns the eight bytes at an address. The first byte is the lowest one.
    @inline(__always)
    static func word(at address: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(address).loadUnaligned(as: UInt64.self))
    }

    /// Copies the bytes before the first one that needs escaping.
    ///
    /// - Parameters:
    ///   - source: The first byte.
    ///   - count: The number of bytes.
    ///   - target: The memory for the copy, which has room for `count` bytes and one word.
    /// - Returns: The number of copied bytes, and true if they are ASCII. False is possible also if only the following
    ///   bytes are not ASCII.
    @inline(__always)
    static func copy(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> (count: Int, isASCII: Bool) {
        var (index, isASCII) = (0, true)
        while index + width <= count {
            let word = word(at: source + index)
            UnsafeMutableRawPointer(target + index).storeBytes(
                of: word.littleEndian, as: UInt64.self)
            let length = length(word)
            isASCII = isASCII && Self.isASCII(word)
            index += length
            if length < width { return (index, isASCII) }
        }
        while index < count, needsNoEscape(source[index]) {
            target[index] = source[index]
            isASCII = isASCII && source[index] < 0x80
            index += 1
        }
        return (index, isASCII)
    }

    /// Returns the index of the first byte that needs escaping, and true if all bytes before it are ASCII.
    static func end(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (index: Int, isASCII: Bool) {
        guard let base = bytes.baseAddress else { return (start, true) }
        var (index, isASCII) = (start, true)
        while index + width <= bytes.count {
            let word = word(at: base + index)
            let length = length(word)
            if length < width {
                // Ignore the bytes after the end.
                let own = length == 0 ? 0 : word << UInt64(8 * (width - length))
                return (index + length, isASCII && Self.isASCII(own))
            }
            isASCII = isASCII && Self.isASCII(word)
            index += width
        }
        while index < bytes.count, needsNoEscape(bytes[index]) {
            isASCII = isASCII && bytes[index] < 0x80
            index += 1
        }
        return (index, isASCII)
    }
}
