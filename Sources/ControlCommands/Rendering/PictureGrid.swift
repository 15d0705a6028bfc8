/// Pictures of characters side by side, with words below each.
struct PictureGrid {
    /// The columns of the terminal between two pictures.
    static let gap = 2
    /// How wide a picture is at most.
    static let widest = 26

    /// A picture, and what is said below it.
    struct Tile {
        /// Lines that may hold escape sequences for colours.
        let picture: [String]
        let captions: [String]
    }

    /// How many fit beside each other.
    let perRow: Int
    /// The columns of one picture.
    let width: Int
    /// The lines of one picture: a character is about twice as high as it is wide.
    var height: Int { max(1, width * 2 / 5) }

    /// - Parameter columns: The width of the terminal.
    init(columns: Int) {
        perRow = max(1, (columns + Self.gap) / (Self.widest + Self.gap))
        width = max(8, min(Self.widest, (columns + Self.gap) / perRow - Self.gap))
    }

    /// The lines of one row of tiles, each ended by a line feed, and an empty one.
    func text(_ tiles: [Tile]) -> String {
        let pictures = (tiles.map(\.picture.count).max() ?? 0)
        let captions = tiles.map(\.captions.count).max() ?? 0
        var text = ""
        for row in 0..<(pictures + captions) {
            var padding = 0
            for tile in tiles {
                let cell = row < pictures ? line(tile.picture, row) : caption(tile, row - pictures)
                if !cell.text.isEmpty {
                    text += String(repeating: " ", count: padding) + cell.text
                    padding = 0
                }
                padding += width + Self.gap - cell.width
            }
            text += "\n"
        }
        return text + "\n"
    }

    private func line(_ lines: [String], _ row: Int) -> (text: String, width: Int) {
        guard row < lines.count else { return ("", 0) }
        return (lines[row], lines[row].withoutEscapes.displayWidth)
    }

    private func caption(_ tile: Tile, _ row: Int) -> (text: String, width: Int) {
        guard row < tile.captions.count else { return ("", 0) }
        let text = TerminalText.line(tile.captions[row]).truncated(to: width)
        return (text, text.displayWidth)
    }
}

extension String {
    /// The text without control sequences.
    ///
    /// Source: ECMA-48, 5.4: `ESC [`, parameters, and a final byte of `@` to `~`.
    var withoutEscapes: String {
        var result = String.UnicodeScalarView()
        var isSequence = false
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            if isSequence {
                if previous != "\u{1B}", "@"..."~" ~= scalar { isSequence = false }
            } else if scalar == "\u{1B}" {
                isSequence = true
            } else {
                result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }
}
