extension JSONValue {
    /// The value on one line, as UTF-8.
    package var line: [UInt8] {
        var writer = LineWriter()
        writer.write(self)
        writer.append(UInt8(ascii: "\n"))
        return writer.bytes
    }
}

/// A growing buffer for one line.
private struct LineWriter: ~Copyable {
    private var start = UnsafeMutablePointer<UInt8>.allocate(capacity: 1024)
    private var capacity = 1024
    private var count = 0

    deinit { start.deallocate() }

    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(count + more, capacity * 2)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        new.update(from: start, count: count)
        start.deallocate()
        (start, capacity) = (new, larger)
    }

    mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    private mutating func append(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount)
        (start + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let flag): append(flag ? "true" : "false")
        case .integer(let number): writePlain("\(number)")
        case .number(let number): writePlain(number.isFinite ? "\(number)" : "null")
        case .string(let text): write(text)
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                write(element)
            }
            append(UInt8(ascii: "]"))
        case .object(let members):
            append(UInt8(ascii: "{"))
            var isFirst = true
            for (key, value) in members {
                if !isFirst { append(UInt8(ascii: ",")) }
                isFirst = false
                write(key)
                append(UInt8(ascii: ":"))
                write(value)
            }
            append(UInt8(ascii: "}"))
        }
    }

    /// Writes a text that needs no escaping.
    private mutating func writePlain(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Writes a string.
    private mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            append(UInt8(ascii: "\""))
            if let base = bytes.baseAddress { copy(base, bytes.count) }
            append(UInt8(ascii: "\""))
        }
    }

    /// Writes the content of a string, with escape sequences.
    private mutating func copy(_ source: UnsafePointer<UInt8>, _ length: Int) {
        // A string with a JSON document needs an escape sequence every few bytes.
        reserve(length + length / 8)
        var place = 0
        while true {
            reserve(length - place + JSONStringScanner.width + Self.longestEscape)
            let plain = JSONStringScanner.copy(source + place, length - place, to: start + count)
                .count
            count += plain
            place += plain
            guard place < length else { return }
            escape(source[place])
            place += 1
        }
    }

    private static let longestEscape = 6

    private mutating func escape(_ byte: UInt8) {
        count += JSONEscape.write(byte, to: start + count)
    }
}

/// The escape sequences of strings.
private enum JSONEscape {
    /// Writes the escape sequence of a byte.
    ///
    /// - Returns: Its length.
    static func write(_ byte: UInt8, to target: UnsafeMutablePointer<UInt8>) -> Int {
        target[0] = UInt8(ascii: "\\")
        switch byte {
        case UInt8(ascii: "\n"): target[1] = UInt8(ascii: "n")
        case 0x20...: target[1] = byte
        default:
            target[1] = UInt8(ascii: "u")
            target[2] = UInt8(ascii: "0")
            target[3] = UInt8(ascii: "0")
            target[4] = UInt8(ascii: "0") + (byte >> 4)
            target[5] = (byte & 15) + (byte & 15 < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        }
        return length(byte)
    }

    /// Returns the length of the escape sequence of a byte.
    static func length(_ byte: UInt8) -> Int {
        byte == UInt8(ascii: "\n") || byte >= 0x20 ? 2 : 6
    }
}

/// A long UTF-8 string that is written as JSON without an intermediate copy.
struct LongJSONString {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The number of bytes of the escaped string, without the quotation marks.
    let escapedCount: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var count = bytes.count
        var offset = JSONStringScanner.end(bytes, from: 0).index
        while offset < bytes.count {
            count += JSONEscape.length(bytes[offset]) - 1
            offset = JSONStringScanner.end(bytes, from: offset + 1).index
        }
        escapedCount = count
    }

    /// Returns the escaped string between two other texts.
    func line(after start: [UInt8], before end: [UInt8]) -> [UInt8] {
        let total = start.count + escapedCount + end.count
        // A copy of a whole word may exceed the end of the string.
        return [UInt8](unsafeUninitializedCapacity: total + JSONStringScanner.width) {
            buffer, count in
            guard let target = buffer.baseAddress, let source = bytes.baseAddress else { return }
            target.initialize(from: start, count: start.count)
            var length = start.count
            var offset = 0
            while true {
                let plain = JSONStringScanner.copy(
                    source + offset, bytes.count - offset, to: target + length
                ).count
                length += plain
                offset += plain
                guard offset < bytes.count else { break }
                length += JSONEscape.write(bytes[offset], to: target + length)
                offset += 1
            }
            (target + length).initialize(from: end, count: end.count)
            count = length + end.count
        }
    }
}
