extension JSON {
    /// The value on one line, as UTF-8.
    package var line: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let flag): bytes += (flag ? "true" : "false").utf8
        case .integer(let number): bytes += "\(number)".utf8
        case .number(let number): bytes += (number.isFinite ? "\(number)" : "null").utf8
        case .string(let text): bytes.appendJSON(text)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSON(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension [UInt8] {
    /// Appends a text as a JSON string.
    fileprivate mutating func appendJSON(_ text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { appendEscaped($0) }
        append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 as a part of a JSON string.
    package mutating func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while true {
            let end = JSON.plainEnd(of: utf8, from: position)
            append(contentsOf: UnsafeBufferPointer(rebasing: utf8[position..<end]))
            guard end < utf8.count else { break }
            append(UInt8(ascii: "\\"))
            if let letter = JSON.shortEscape(utf8[end]) {
                append(letter)
            } else {
                append(contentsOf: (utf8[end] < 0x10 ? "u000" : "u00").utf8)
                append(contentsOf: String(utf8[end], radix: 16).utf8)
            }
            position = end + 1
        }
    }
}

extension JSON {
    /// Returns the byte that follows the backslash in an escape sequence of two bytes; nil if there is no such sequence.
    fileprivate static func shortEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\n"): UInt8(ascii: "n")
        case UInt8(ascii: "\r"): UInt8(ascii: "r")
        case UInt8(ascii: "\t"): UInt8(ascii: "t")
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        default: nil
        }
    }

    /// Returns the number of bytes that a byte of a string takes in addition, because of its escape sequence.
    package static func escapeBytes(_ byte: UInt8) -> Int {
        shortEscape(byte) != nil ? 1 : byte < 0x20 ? 5 : 0
    }

    /// Returns the index of the first byte of a string that needs escaping: a quotation mark, a backslash or a control
    /// character. It examines eight bytes at a time, because most of a message is strings.
    static func plainEnd(of utf8: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 <= utf8.count, let base = utf8.baseAddress {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
            let quotes = word ^ ones * UInt64(UInt8(ascii: "\""))
            let backslashes = word ^ ones * UInt64(UInt8(ascii: "\\"))
            // The highest bit of a byte marks it. Marks above the lowest one may be wrong.
            let marks =
                ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
                    | (word &- ones * 0x20) & ~word) & (ones * 0x80)
            guard marks == 0 else { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < utf8.count, utf8[index] >= 0x20, utf8[index] != UInt8(ascii: "\""),
            utf8[index] != UInt8(ascii: "\\")
        {
            index += 1
        }
        return index
    }
}
