extension KeyFile {
    /// A key file in which a key has another value, and all else is as it was: comments, order, bad lines.
    ///
    /// - Parameters:
    ///   - value: What the key is to have; one line.
    ///   - key: The key.
    ///   - group: The group, which is added at the end if it is not there.
    ///   - text: The file.
    /// - Returns: The file as it is to be written.
    package static func setting(
        _ value: String, for key: String, in group: String, of text: String
    ) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        let entry = "\(key)=\(escaped(value))"
        let starts = lines.indices.filter { header(lines[$0]).map { $0 == group } ?? false }
        // Where a group is there twice, the last value counts.
        for start in starts.reversed() {
            let end = lines[(start + 1)...].firstIndex { header($0) != nil } ?? lines.endIndex
            let places = (start + 1..<end).filter {
                self.key(of: lines[$0]).map { $0 == key } ?? false
            }
            guard let place = places.last else { continue }
            lines[place] = entry
            return lines.joined(separator: "\n") + "\n"
        }
        if let start = starts.last {
            lines.insert(entry, at: start + 1)
        } else {
            if lines.last?.isEmpty == false { lines.append("") }
            lines += ["[\(group)]", entry]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func header(_ line: String) -> Substring? {
        guard line.first == "[", let end = line.lastIndex(of: "]") else { return nil }
        return line[line.index(after: line.startIndex)..<end]
    }

    private static func key(of line: String) -> Substring? {
        guard line.first != "#", let end = line.firstIndex(of: "=") else { return nil }
        let name = line[..<end].drop { $0 == " " }
        return name.lastIndex { $0 != " " }.map { name[...$0] }
    }

    /// Source: Desktop Entry Specification, "Possible value types".
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case " " where escaped.isEmpty: escaped += "\\s"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
