/// Globs of the paths below a folder, as the key `Exclude=` of the configuration lists them.
///
/// `*` stands for any text within a name, `?` for one character, `[…]` for one of some characters, and `**` for any
/// text with its slashes. Canonically equivalent characters are equal. A backslash makes the next character literal. A
/// pattern without a slash, except at its end, is compared with names at any depth, any other one with the whole path.
/// Whatever is below a matching folder matches, too.
package struct PathPatterns: Sendable, Hashable {
    private let patterns: [Glob]

    /// Creates the patterns of a list, in which `;` separates them.
    package init(list: String) {
        patterns = Self.split(list).compactMap(Glob.init)
    }

    private static func split(_ list: String) -> [String] {
        var texts = [""]
        var isEscaped = false
        for scalar in list.unicodeScalars {
            if scalar == ";", !isEscaped {
                texts.append("")
            } else {
                texts[texts.count - 1].unicodeScalars.append(scalar)
            }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return texts
    }

    /// Returns the list of some patterns, for ``init(list:)``. A backslash may precede `;` in them.
    package static func list(of patterns: [String]) -> String {
        patterns.map { pattern in
            var entry = split(pattern).joined(separator: "\\;")
            // Otherwise blanks around an entry are ignored.
            if entry.first == " " { entry = "\\" + entry }
            if entry.hasOuterBlank { entry.insert("\\", at: entry.index(before: entry.endIndex)) }
            return entry
        }.joined(separator: ";")
    }

    /// Returns true if a pattern matches a path, or a folder above it. The path is relative to the folder of the patterns,
    /// and may have any encoding.
    package func contains(_ path: [UInt8]) -> Bool {
        guard !patterns.isEmpty else { return false }
        let path = Array(String(decoding: path, as: UTF8.self))
        var start = 0
        for end in path.indices.filter({ path[$0] == "/" }) + [path.count] {
            let (whole, name) = (path[..<end], path[start..<end])
            start = end + 1
            if patterns.contains(where: { $0.matches($0.isName ? name : whole) }) { return true }
        }
        return false
    }
}

extension StringProtocol {
    /// True if the last character is a blank that no backslash makes literal.
    fileprivate var hasOuterBlank: Bool {
        last == " " && dropLast().reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2)
    }
}

/// A pattern of a list.
private struct Glob: Sendable, Hashable {
    private let pattern: [Character]
    /// True if the pattern is compared with names, false if it is compared with whole paths.
    let isName: Bool

    /// Creates a pattern from an entry of a list; nil if the entry is empty.
    init?(_ entry: String) {
        var text = entry.drop { $0 == " " }
        while text.hasOuterBlank { text.removeLast() }
        while text.last == "/" { text.removeLast() }
        if text.hasPrefix("./") { text.removeFirst() }
        isName = !text.contains("/")
        pattern = Array(text.drop { $0 == "/" })
        if pattern.isEmpty { return nil }
    }

    /// Compares a text with the pattern. A mismatch continues at the last `*`, or else at the last `**`, with a longer text
    /// for it, so that the time is bounded by the product of the lengths.
    func matches(_ text: ArraySlice<Character>) -> Bool {
        var (next, position) = (0, text.startIndex)
        var star: (next: Int, position: Int)?
        var stars: (next: Int, position: Int, isFolder: Bool)?
        while next < pattern.count || position < text.endIndex {
            if next < pattern.count, pattern[next] == "*" {
                let count = pattern[next...].prefix { $0 == "*" }.count
                next += count
                if count == 1 {
                    star = (next, position)
                } else {
                    // `**/` stands for no folder as well.
                    let isFolder = next < pattern.count && pattern[next] == "/"
                    if isFolder { next += 1 }
                    (star, stars) = (nil, (next, position, isFolder))
                }
            } else if position < text.endIndex, let after = end(next, text[position]) {
                (next, position) = (after, position + 1)
            } else if let last = star, last.position < text.endIndex, text[last.position] != "/" {
                star?.position += 1
                (next, position) = (last.next, last.position + 1)
            } else if let last = stars, last.position < text.endIndex {
                let rest = text[last.position...]
                guard let skipped = last.isFolder ? rest.firstIndex(of: "/") : last.position else {
                    return false
                }
                star = nil
                stars?.position = skipped + 1
                (next, position) = (last.next, skipped + 1)
            } else {
                return false
            }
        }
        return true
    }

    /// Returns the end of the part of the pattern at an index if that part stands for a character; otherwise nil.
    private func end(_ index: Int, _ character: Character) -> Int? {
        guard index < pattern.count else { return nil }
        switch pattern[index] {
        case "?": return character == "/" ? nil : index + 1
        case "\\" where index + 1 < pattern.count:
            return pattern[index + 1] == character ? index + 2 : nil
        case "[":
            guard let set = set(from: index + 1) else { break }
            return set.characters.contains { $0 ~= character } != set.isInverted && character != "/"
                ? set.end : nil
        default: break
        }
        return pattern[index] == character ? index + 1 : nil
    }

    /// Reads the characters of `[…]`; nil without the closing bracket, so that the opening one stands for itself.
    private func set(
        from start: Int
    ) -> (characters: [ClosedRange<Character>], isInverted: Bool, end: Int)? {
        var index = start
        let isInverted = index < pattern.count && "!^".contains(pattern[index])
        if isInverted { index += 1 }
        var characters: [ClosedRange<Character>] = []
        while index < pattern.count, pattern[index] != "]" || characters.isEmpty {
            var last = pattern[index]
            let first = last
            if index + 2 < pattern.count, pattern[index + 1] == "-", pattern[index + 2] != "]" {
                index += 2
                last = pattern[index]
            }
            characters.append(min(first, last)...max(first, last))
            index += 1
        }
        return index < pattern.count ? (characters, isInverted, index + 1) : nil
    }
}
