internal import Quoting

extension KeyFile {
    /// Returns a copy of a key file with a new value for one key. Comments, order and invalid lines are preserved.
    ///
    /// - Parameters:
    ///   - value: The new value, on one line, with other bytes than UTF-8 as ``RawText`` represents them.
    ///   - key: The key.
    ///   - group: The group. It is appended if the file does not have it.
    ///   - text: The file.
    /// - Returns: The new contents of the file.
    package static func setting(
        _ value: String, for key: String, in group: String, of text: [UInt8]
    ) -> [UInt8] {
        // Bytes, so that invalid UTF-8 is preserved.
        var lines = text.split(separator: newline, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        // A file from another system may have CR LF line ends.
        let lineEnd: [UInt8] = lines.first?.last == 0x0d ? [0x0d] : []
        let entry = (RawText.bytes(of: "\(key)=\(escaped(value))") + lineEnd)[...]
        let headers = lines.map { header($0) }
        let starts = lines.indices.filter { headers[$0] == group }
        // If a group occurs twice, the last value is effective.
        for start in starts.reversed() {
            let end = headers[(start + 1)...].firstIndex { $0 != nil } ?? lines.endIndex
            let entries = (start + 1..<end).filter { self.key(of: lines[$0]) == key }
            guard let last = entries.last else { continue }
            lines[last] = entry
            return joined(lines)
        }
        if let start = starts.last {
            lines.insert(entry, at: start + 1)
        } else {
            if let last = lines.last, !trimmed(last).isEmpty { lines.append(lineEnd[...]) }
            lines += [Array("[\(group)]".utf8)[...] + lineEnd, entry]
        }
        return joined(lines)
    }

    /// Returns the headings and the keys in the order of their lines, which are counted from 1.
    ///
    /// - Parameter text: The file.
    /// - Returns: The group of each such line; the key, which is nil for a heading; and the number of the line. Other
    ///   bytes than UTF-8 are as ``RawText`` represents them. Keys without a valid heading are left out.
    package static func entries(of text: [UInt8]) -> [(group: String, key: String?, line: Int)] {
        var entries: [(group: String, key: String?, line: Int)] = []
        var group = ""
        let lines = text.split(separator: newline, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if let name = header(line) {
                group = name
                if !name.isEmpty { entries.append((group, nil, index + 1)) }
            } else if !group.isEmpty, let key = key(of: line) {
                entries.append((group, key, index + 1))
            }
        }
        return entries
    }

    private static let newline = UInt8(ascii: "\n")
    /// The white space of `g_ascii_isspace`.
    private static let blanks: Set<UInt8> = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]

    private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
        lines.reduce(into: []) { $0 += $1 + [newline] }
    }

    /// Returns the name of the group that a line begins, which is empty for a heading that GKeyFile rejects; nil for any
    /// other line.
    static func header(_ line: ArraySlice<UInt8>) -> String? {
        let line = (line.last == 0x0d ? line.dropLast() : line).drop { blanks.contains($0) }
        guard line.first == UInt8(ascii: "[") else { return nil }
        guard let end = line.firstIndex(of: UInt8(ascii: "]")),
            line[(end + 1)...].allSatisfy({ $0 == 0x20 || $0 == 0x09 })
        else { return "" }
        let name = line[..<end].dropFirst()
        let isGood = name.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "[") }
        return isGood ? RawText.text(of: name) : ""
    }

    /// Returns the key that a line sets; nil for any other line.
    private static func key(of line: ArraySlice<UInt8>) -> String? {
        guard trimmed(line).first != UInt8(ascii: "#"),
            let end = line.firstIndex(of: UInt8(ascii: "="))
        else { return nil }
        return RawText.text(of: trimmed(line[..<end]))
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop { blanks.contains($0) }
        return start.lastIndex { !blanks.contains($0) }.map { start[...$0] } ?? []
    }

    /// Escapes a value. Source: Desktop Entry Specification, "Possible value types".
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case " " where escaped.isEmpty: escaped += "\\s"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
