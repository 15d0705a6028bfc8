extension JSONValue {
    /// The largest number of values in a document.
    package static let maximumValues = 1 << 16

    /// Rejects a document with too many values or too many levels, before memory is allocated for values.
    ///
    /// The syntax is not checked: the parser does that. An empty array counts as an array with one element.
    ///
    /// - Throws: ``JSONSyntaxError``.
    static func checkSize(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        // Each value takes at least one byte, and the parser limits the levels.
        guard bytes.count > maximumValues else { return }
        var offset = 0
        var values = 1
        var depth = 0
        // One bit for each open container, 1 for an object. The lowest bit is the innermost container.
        var objects: UInt64 = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset = endOfString(in: bytes, from: offset + 1)
                continue
            case UInt8(ascii: "{"):
                depth += 1
                objects = objects << 1 | 1
            case UInt8(ascii: "["):
                depth += 1
                objects <<= 1
                values += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return }
                depth -= 1
                objects >>= 1
            case UInt8(ascii: ":"): values += 1
            case UInt8(ascii: ","): if objects & 1 == 0 { values += 1 }
            default: break
            }
            guard depth <= maximumDepth else {
                throw JSONSyntaxError(reason: "more than \(maximumDepth) levels", offset: offset)
            }
            guard values <= maximumValues else {
                throw JSONSyntaxError(
                    reason: "more than \(maximumValues) values", offset: offset)
            }
            offset += 1
        }
    }

    /// Returns the index after the quotation mark that ends a string.
    private static func endOfString(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int {
        var offset = start
        while true {
            offset = JSONStringScanner.end(bytes, from: offset).index
            guard offset < bytes.count else { return offset }
            switch bytes[offset] {
            case UInt8(ascii: "\""): return offset + 1
            case UInt8(ascii: "\\"): offset = min(offset + 2, bytes.count)
            // A control character, which the parser rejects.
            default: offset += 1
            }
        }
    }
}
