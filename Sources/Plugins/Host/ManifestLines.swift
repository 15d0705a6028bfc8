/// The lines of a manifest, for rules that `GKeyFile` does not have, and for the numbers of lines in messages.
nonisolated struct ManifestLines {
    /// A key of a group; an empty key is the heading of the group.
    struct Place: Hashable {
        let group: String
        let key: String
    }

    /// The largest number of lines. It limits the time that the daemon needs for a file with many problems.
    static let maximum = 1000

    let count: Int
    /// The number of the first line of each place, from 1.
    private(set) var numbers: [Place: Int] = [:]
    /// The places that are set again, with the numbers of these lines. Groups with the prefix `X-` are for other
    /// programs.
    private(set) var repetitions: [(place: Place, number: Int)] = []
    /// The numbers of the lines that begin with a blank, as in a text that was copied from a manual page.
    private(set) var indented: [Int] = []

    init(_ text: String) {
        // By bytes, because CR LF is a single Character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        count = lines.count
        guard count <= Self.maximum else { return }
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var group = ""
        for (index, line) in lines.enumerated() {
            guard let first = line.first else { continue }
            if isBlank(first), line.contains(where: { !isBlank($0) && $0 != UInt8(ascii: "\r") }) {
                indented.append(index + 1)
            }
            var place: Place
            if first == UInt8(ascii: "[") {
                group = String(Substring(line.dropFirst().prefix { $0 != UInt8(ascii: "]") }))
                place = Place(group: group, key: "")
            } else if first != UInt8(ascii: "#"),
                let equals = line.firstIndex(of: UInt8(ascii: "="))
            {
                let key = String(decoding: line[..<equals].filter { !isBlank($0) }, as: UTF8.self)
                place = Place(group: group, key: key)
            } else {
                continue
            }
            guard numbers[place] != nil else {
                numbers[place] = index + 1
                continue
            }
            guard !place.key.isEmpty, !group.hasPrefix("X-") else { continue }
            repetitions.append((place, index + 1))
        }
    }
}
