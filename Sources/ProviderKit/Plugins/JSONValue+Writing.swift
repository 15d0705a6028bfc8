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
        line.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            guard bytes.contains(where: needsEscape) else { return line += bytes }
            for byte in bytes {
                guard needsEscape(byte) else {
                    line.append(byte)
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): line += "\\\"".utf8
                case UInt8(ascii: "\\"): line += "\\\\".utf8
                case UInt8(ascii: "\n"): line += "\\n".utf8
                default:
                    let digits = String(byte, radix: 16)
                    line += "\\u00\(byte < 0x10 ? "0" : "")\(digits)".utf8
                }
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
    }
}
