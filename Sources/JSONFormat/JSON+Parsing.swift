/// A syntax error in a JSON document.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    package let reason: String
    /// The number of bytes before the error.
    package let offset: Int

    package var description: String { "invalid JSON at byte \(offset): \(reason)" }
}

extension JSON {
    /// Parses one value. Only blanks may precede and follow it.
    ///
    /// The parser is stricter than RFC 8259 requires, unless it is lenient: duplicate keys are errors.
    ///
    /// - Parameters:
    ///   - bytes: The value as UTF-8.
    ///   - depth: The largest number of nested arrays and objects.
    ///   - values: The largest number of values in the document.
    ///   - isLenient: True to accept a byte order mark, duplicate keys, texts that are not Unicode, with U+FFFD in place
    ///     of each invalid part, and numbers that are too large, as null.
    /// - Throws: ``JSONSyntaxError``.
    package init(
        parsing bytes: some Collection<UInt8>, depth: Int = 32, values: Int = 1 << 16,
        isLenient: Bool = false
    ) throws(JSONSyntaxError) {
        let parse = { (bytes: UnsafeBufferPointer<UInt8>) in
            Result { () throws(JSONSyntaxError) in
                var parser = Parser(
                    bytes: bytes, maximumDepth: depth, maximumValues: values, isLenient: isLenient)
                return try parser.document()
            }
        }
        let parsed = bytes.withContiguousStorageIfAvailable(parse)
        self = try (parsed ?? Array(bytes).withUnsafeBufferPointer(parse)).get()
    }
}

private struct Parser {
    let bytes: UnsafeBufferPointer<UInt8>
    let maximumDepth: Int
    let maximumValues: Int
    let isLenient: Bool
    var offset = 0
    var count = 0

    mutating func document() throws(JSONSyntaxError) -> JSON {
        if isLenient {
            if bytes.starts(with: "\u{feff}".utf8) { offset = 3 }
        } else if (try? UTF8Span(validating: bytes.span)) == nil {
            // The parts of valid text between ASCII characters are valid, too.
            throw error("a string is not UTF-8")
        }
        let value = try value(depth: 0)
        skipBlanks()
        guard offset == bytes.count else { throw error("extra text after the value") }
        return value
    }

    private func error(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, offset: offset)
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            offset += 1
        }
    }

    /// Skips blanks, and then the given character if it follows.
    ///
    /// - Returns: True if the character followed.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSON {
        guard depth < maximumDepth else {
            throw error("more than \(maximumDepth) levels")
        }
        count += 1
        guard count <= maximumValues else {
            throw error("more than \(maximumValues) values")
        }
        skipBlanks()
        guard let first = next else { throw error("unexpected end") }
        switch first {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(
        _ word: StaticString, _ value: JSON
    ) throws(JSONSyntaxError) -> JSON {
        let isThere = word.withUTF8Buffer { bytes[offset...].starts(with: $0) }
        guard isThere else { throw error("an unknown literal") }
        offset += word.utf8CodeUnitCount
        return value
    }

    private mutating func object(_ depth: Int) throws(JSONSyntaxError) -> JSON {
        offset += 1
        var members: [JSON.Member] = []
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw error("a key is missing") }
            let key = try string()
            guard take(":") else { throw error("a colon is missing") }
            members.append(JSON.Member(key, try value(depth: depth + 1)))
        } while take(",")
        guard isLenient || !Self.hasDuplicates(members) else { throw error("a duplicate key") }
        guard take("}") else { throw error("an object is not closed") }
        return .object(members)
    }

    private static func hasDuplicates(_ members: [JSON.Member]) -> Bool {
        // A set takes longer than the comparisons of a few names.
        guard members.count <= 8 else {
            return Set(members.lazy.map(\.name)).count < members.count
        }
        return members.indices.contains { index in
            members[..<index].contains { $0.name == members[index].name }
        }
    }

    private mutating func array(_ depth: Int) throws(JSONSyntaxError) -> JSON {
        offset += 1
        var elements: [JSON] = []
        if take("]") { return .array(elements) }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw error("an array is not closed") }
        return .array(elements)
    }

    // MARK: Strings

    private mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        let start = offset
        offset = JSON.plainEnd(of: bytes, from: start)
        // Most strings have no escape sequence.
        if next == UInt8(ascii: "\"") {
            defer { offset += 1 }
            return String(
                decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        }
        var utf8 = Array(bytes[start..<offset])
        while let byte = next, byte == UInt8(ascii: "\\") {
            offset += 1
            utf8 += UTF8.encode(try escape()) ?? UTF8.EncodedScalar()
            let end = JSON.plainEnd(of: bytes, from: offset)
            utf8.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[offset..<end]))
            offset = end
        }
        guard let byte = next else { throw error("a string is not closed") }
        guard byte == UInt8(ascii: "\"") else { throw error("a control character in a string") }
        offset += 1
        return String(decoding: utf8, as: UTF8.self)
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let byte = next else { throw error("a string is not closed") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicode()
        default: throw error("an unknown escape")
        }
    }

    private mutating func unicode() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // A high surrogate must be followed by a low surrogate.
        let end = offset
        if unit < 0xdc00, bytes[offset...].starts(with: #"\u"#.utf8) {
            offset += 2
            let low = try codeUnit()
            if 0xdc00...0xdfff ~= low,
                let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
            {
                return scalar
            }
        }
        guard isLenient else { throw error("an unpaired surrogate") }
        offset = end
        return "\u{fffd}"
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw error("a hexadecimal digit is missing")
            }
            unit = unit << 4 | UInt32(digit)
            offset += 1
        }
        return unit
    }

    // MARK: Numbers

    private mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        let beginsWithZero = next == UInt8(ascii: "0")
        let count = digits()
        guard count > 0 else { throw error("a value is missing") }
        guard count == 1 || !beginsWithZero else { throw error("a number begins with 0") }
        var isWhole = true
        if next == UInt8(ascii: ".") {
            offset += 1
            isWhole = false
            guard digits() > 0 else { throw error("a digit is missing") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            offset += 1
            isWhole = false
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            guard digits() > 0 else { throw error("a digit is missing") }
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        if let number = Double(text), number.isFinite { return .number(number) }
        guard isLenient else { throw error("a number is too large") }
        return .null
    }

    /// Skips digits.
    ///
    /// - Returns: The number of digits.
    private mutating func digits() -> Int {
        let start = offset
        while let byte = next, 0x30...0x39 ~= byte { offset += 1 }
        return offset - start
    }
}
