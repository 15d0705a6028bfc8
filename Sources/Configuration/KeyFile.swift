internal import CGLib
package import Translation

/// The values of a key file, and the lines that could not be read.
///
/// An invalid line is skipped; the other lines are effective.
///
/// Source: Desktop Entry Specification, "Basic format of the file", as `GKeyFile` reads it.
package struct KeyFile: Sendable {
    /// The values by group and key.
    package private(set) var groups: [String: [String: String]] = [:]
    /// The lines that were skipped, in order, with their numbers, counted from 1.
    package private(set) var badLines: [(number: Int, reason: Message)] = []

    /// Parses the contents of a key file.
    package init(_ text: String) {
        if let groups = Self.parse(text) {
            self.groups = groups
            return
        }
        var good = ""
        // True below a valid heading, false below an invalid one; nil above the first.
        var hasGroup: Bool?
        // By scalars, because CR LF is a single Character.
        for (index, scalars) in text.unicodeScalars
            .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        {
            let line = String(scalars.last == "\r" ? scalars.dropLast() : scalars)
            // Each line is parsed separately, in some group: GKeyFile rejects a file with any invalid line.
            let isHeading = Self.header(Array(line.utf8)[...]) != nil
            let isInGroup = !isHeading && hasGroup == true
            let isGood = Self.parse(isInGroup ? "[group]\n\(line)" : line) != nil
            if isGood { good += "\(line)\n" }
            if isHeading { hasGroup = isGood }
            guard !isGood else { continue }
            let hasMark = index == 0 && scalars.first == "\u{feff}"
            let isOutside = !isHeading && !isInGroup && line.contains("=")
            let reason =
                hasMark
                ? Message("the file begins with a byte order mark; save it without one")
                : !isOutside
                    ? Message("this is neither a group, nor a key with a value, nor a comment")
                    : hasGroup == nil
                        ? Message("this key is above the first group")
                        : Message("there is no such group")
            badLines.append((index + 1, reason))
        }
        groups = Self.parse(good) ?? [:]
    }

    /// Parses a file, or a line of it; nil if a line cannot be read.
    private static func parse(_ text: String) -> [String: [String: String]]? {
        let file = g_key_file_new()
        defer { g_key_file_unref(file) }
        // Otherwise GKeyFile drops keys with a language other than that of the user, which are to be reported.
        guard
            g_key_file_load_from_data(
                file, text, gsize(text.utf8.count), G_KEY_FILE_KEEP_TRANSLATIONS, nil) != 0
        else { return nil }
        var groups: [String: [String: String]] = [:]
        for group in strings(g_key_file_get_groups(file, nil)) {
            for key in strings(g_key_file_get_keys(file, group, nil, nil)) {
                // A list of strings may have the escape sequence `\;`.
                guard
                    let value = g_key_file_get_string(file, group, key, nil)
                        ?? g_key_file_get_value(file, group, key, nil)
                else { continue }
                defer { g_free(value) }
                groups[group, default: [:]][key] = String(cString: value)
            }
        }
        return groups
    }

    private static func strings(
        _ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> [String] {
        guard let list else { return [] }
        defer { g_strfreev(list) }
        return (0..<Int(g_strv_length(list))).compactMap { list[$0].map { String(cString: $0) } }
    }
}
