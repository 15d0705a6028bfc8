/// The words of the command line, before they are parsed.
enum ArgumentList {
    /// The commands whose argument is a photo.
    private static let photoCommands: Set = [
        "download", "image", "like", "open", "photo", "share", "toggle", "unlike",
    ]
    /// Their options that are followed by a value.
    private static let valueOptions: Set = ["--output", "--size", "-o"]

    /// Lets the ids of photos begin with `-`, as those of some services do.
    ///
    /// The parser would take such a word for an option. `/ID` means the same: the photo of the default account.
    /// Words in the form of an option (`-h`, `--json`, `--size=full`) stay options.
    static func shieldingPhotos(_ words: [String]) -> [String] {
        guard let command = words.first, photoCommands.contains(command) else { return words }
        var shielded = [command]
        var isValue = false
        for (index, word) in words.enumerated().dropFirst() {
            guard word != "--" else { return shielded + words[index...] }
            shielded.append(isValue || !looksLikeID(word) ? word : "/" + word)
            isValue = valueOptions.contains(word)
        }
        return shielded
    }

    private static func looksLikeID(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.utf8.count > 2 else { return false }
        guard word.hasPrefix("--") else { return true }
        let name = word.dropFirst(2).prefix { $0 != "=" }
        return !name.allSatisfy { "a"..."z" ~= $0 || $0 == "-" }
    }
}
