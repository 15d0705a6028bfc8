internal import Quoting

/// The words of the command line, before they are parsed.
enum ArgumentList {
    /// The commands whose argument is a photo.
    private static let photoCommands: Set = [
        "download", "image", "like", "open", "photo", "share", "toggle", "unlike",
    ]
    /// Their options that are followed by a value.
    private static let valueOptions: Set = ["--output", "--size", "-o"]

    /// The options whose value is the path of a file.
    private static let pathOptions: Set = [
        "--output", "-o", "--password-file", "--client-secret-file",
    ]

    /// Decodes the words that are not paths.
    ///
    /// - Parameter words: The words, in the form of ``RawText``.
    /// - Returns: The words as text; paths, and a line that a shell completes, are still in that form.
    /// - Throws: ``CommandFailure`` if a word that is not a path is not UTF-8.
    static func decoding(_ words: [String]) throws(CommandFailure) -> [String] {
        guard words.first != "complete" else { return words }
        var decoded: [String] = []
        var isPath = false
        var areOptionsOver = false
        for word in words {
            let option = areOptionsOver ? word[...] : word.prefix { $0 != "=" }
            if isPath || option.count < word.count && pathOptions.contains(String(option)) {
                decoded.append(word)
            } else {
                let bytes = RawText.bytes(of: word)
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    let text = String(decoding: bytes, as: UTF8.self)
                    throw CommandFailure(.usage, "The argument “\(text)” is not valid UTF-8.")
                }
                decoded.append(text)
            }
            areOptionsOver = areOptionsOver || !isPath && word == "--"
            isPath = !areOptionsOver && !isPath && pathOptions.contains(word)
        }
        return decoded
    }

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
