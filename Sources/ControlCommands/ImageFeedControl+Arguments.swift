internal import Quoting

/// Preparation of the command line for the argument parser.
extension ImageFeedControl {
    /// The commands that take a photo as their argument.
    private static let photoCommands: Set = [
        "download", "image", "like", "open", "photo", "share", "toggle", "unlike",
    ]
    /// The subcommands of `slideshow` that take a photo.
    private static let slideshowCommands: Set = ["hide", "show", "unhide"]
    /// The options of these commands whose value is the next word.
    private static let valueOptions: Set = ["--format", "--name", "--output", "--size", "-o"]

    /// The options whose value is the path of a file.
    private static let pathOptions: Set = [
        "--output", "-o", "--password-file", "--client-secret-file", "--directory",
    ]

    /// Decodes the words that are not paths.
    ///
    /// - Parameter words: The words, encoded by ``RawText``.
    /// - Returns: The words as text. Paths, and the arguments of the command `complete`, stay encoded by ``RawText``.
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
                    throw CommandFailure.tr(
                        "The argument “{argument}” is not valid UTF-8.", ["argument": text],
                        status: .usage)
                }
                decoded.append(text)
            }
            areOptionsOver = areOptionsOver || !isPath && word == "--"
            isPath = !areOptionsOver && !isPath && pathOptions.contains(word)
        }
        return decoded
    }

    /// The mark in front of a photo ID that begins with `-`. No word of a command line contains it.
    static let idMark = "\0"

    /// Puts ``idMark`` in front of photo IDs that begin with `-`.
    ///
    /// Some services use such IDs, and the parser would read them as options. Words that have the form of an option
    /// (`-h`, `--json`, `--size=full`) are not changed.
    static func escapingPhotoIDs(_ words: [String]) -> [String] {
        guard let command = words.first else { return words }
        let isSlideshow =
            command == "slideshow" && words.count > 1 && slideshowCommands.contains(words[1])
        guard photoCommands.contains(command) || isSlideshow else { return words }
        let count = isSlideshow ? 2 : 1
        var escaped = Array(words[..<count])
        var isValue = false
        for (index, word) in words.enumerated().dropFirst(count) {
            guard word != "--" else { return escaped + words[index...] }
            escaped.append(isValue || !looksLikeID(word) ? word : idMark + word)
            isValue = valueOptions.contains(word)
        }
        return escaped
    }

    private static func looksLikeID(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.utf8.count > 2 else { return false }
        guard word.hasPrefix("--") else { return true }
        let name = word.dropFirst(2).prefix { $0 != "=" }
        return !name.allSatisfy { "a"..."z" ~= $0 || $0 == "-" }
    }
}
