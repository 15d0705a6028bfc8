extension JSONValue {
    /// The value on one line, as UTF-8.
    package var line: [UInt8] {
        var line: [UInt8] = []
        write(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func write(to line: inout [UInt8]) {
        switch self {
        case .null: line += "null".utf8
        case .bool(let flag): line += (flag ? "true" : "false").utf8
        case .integer(let number): line += "\(number)".utf8
        case .number(let number): line += (number.isFinite ? "\(number)" : "null").utf8
        case .string(let text): Self.write(text, to: &line)
        case .array(let elements):
            line.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                element.write(to: &line)
            }
            line.append(UInt8(ascii: "]"))
        case .object(let members):
            line.append(UInt8(ascii: "{"))
            var isFirst = true
            for (key, value) in members {
                if !isFirst { line.append(UInt8(ascii: ",")) }
                isFirst = false
                Self.write(key, to: &line)
                line.append(UInt8(ascii: ":"))
                value.write(to: &line)
            }
            line.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to line: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes in
            var length = bytes.count + 2
            for byte in bytes { length += extraBytes(byte) }
            line += [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
                guard var end = buffer.baseAddress else { return }
                end.initialize(to: UInt8(ascii: "\""))
                end += 1
                for byte in bytes {
                    if extraBytes(byte) == 0 {
                        end.initialize(to: byte)
                        end += 1
                    } else {
                        end = escape(byte, at: end)
                    }
                }
                end.initialize(to: UInt8(ascii: "\""))
                count = length
            }
        }
    }

    /// Writes the escape of a byte.
    ///
    /// - Returns: Where the next one goes.
    private static func escape(
        _ byte: UInt8, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        start[0] = UInt8(ascii: "\\")
        if extraBytes(byte) == 1 {
            start[1] = byte == UInt8(ascii: "\n") ? UInt8(ascii: "n") : byte
            return start + 2
        }
        start[1] = UInt8(ascii: "u")
        start[2] = UInt8(ascii: "0")
        start[3] = UInt8(ascii: "0")
        start[4] = UInt8(ascii: "0") + (byte >> 4)
        start[5] = (byte & 15) + (byte & 15 < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        return start + 6
    }

    /// How much longer the escape of a byte is than the byte; 0 where it needs none.
    @inline(__always)
    private static func extraBytes(_ byte: UInt8) -> Int {
        if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte != 0x7f {
            return 0
        }
        return byte < 0x20 && byte != UInt8(ascii: "\n") || byte == 0x7f ? 5 : 1
    }
}
