/// What stands for itself in a string of JSON, looked at eight bytes at a time: strings are most of a message, and
/// documents within messages have an escape every few bytes.
enum JSONStringScanner {
    /// How many bytes are looked at at a time.
    static let width = 8

    /// Copies of a byte.
    @inline(__always)
    private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 * UInt64(byte) }

    /// Marks, by their highest bits, quotation marks, backslashes and controls. Marks above the lowest one may be
    /// wrong.
    @inline(__always)
    private static func marks(_ word: UInt64) -> UInt64 {
        let quotes = word ^ repeated(UInt8(ascii: "\""))
        let backslashes = word ^ repeated(UInt8(ascii: "\\"))
        let zeros =
            (quotes &- repeated(1)) & ~quotes | (backslashes &- repeated(1)) & ~backslashes
            | (word &- repeated(0x20)) & ~word
        return zeros & repeated(0x80)
    }

    /// How many of the eight bytes, from the first on, stand for themselves.
    @inline(__always)
    static func length(_ word: UInt64) -> Int { marks(word).trailingZeroBitCount / 8 }

    @inline(__always)
    static func isASCII(_ word: UInt64) -> Bool { word & repeated(0x80) == 0 }

    @inline(__always)
    static func stands(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The eight bytes at a place, the first the lowest.
    @inline(__always)
    static func word(at place: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    /// Copies what stands for itself.
    ///
    /// - Parameters:
    ///   - source: Where it begins.
    ///   - count: How many bytes there are.
    ///   - target: Has room for as many, and for a word more.
    /// - Returns: How many were copied, and whether they are ASCII; false if what follows is none.
    @inline(__always)
    static func copy(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> (count: Int, isASCII: Bool) {
        var (place, isASCII) = (0, true)
        while place + width <= count {
            let word = word(at: source + place)
            UnsafeMutableRawPointer(target + place).storeBytes(
                of: word.littleEndian, as: UInt64.self)
            let length = length(word)
            isASCII = isASCII && Self.isASCII(word)
            place += length
            if length < width { return (place, isASCII) }
        }
        while place < count, stands(source[place]) {
            target[place] = source[place]
            isASCII = isASCII && source[place] < 0x80
            place += 1
        }
        return (place, isASCII)
    }

    /// Where what stands for itself ends.
    ///
    /// - Returns: The place, and whether all before it is ASCII.
    static func end(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (place: Int, isASCII: Bool) {
        guard let base = bytes.baseAddress else { return (start, true) }
        var (place, isASCII) = (start, true)
        while place + width <= bytes.count {
            let word = word(at: base + place)
            let length = length(word)
            if length < width {
                // Bytes above the end are not meant.
                let own = length == 0 ? 0 : word << UInt64(8 * (width - length))
                return (place + length, isASCII && Self.isASCII(own))
            }
            isASCII = isASCII && Self.isASCII(word)
            place += width
        }
        while place < bytes.count, stands(bytes[place]) {
            isASCII = isASCII && bytes[place] < 0x80
            place += 1
        }
        return (place, isASCII)
    }
}
