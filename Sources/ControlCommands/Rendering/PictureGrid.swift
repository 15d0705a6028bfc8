/// A layout of drawn photos side by side, with captions below.
struct PictureGrid {
    /// The number of columns between two pictures.
    static let gap = 2
    /// The largest width of a picture in columns.
    static let maximumWidth = 26

    /// A picture with its captions.
    struct Tile {
        /// The lines of the picture, which may contain control sequences for colours.
        let picture: [String]
        let captions: [String]
    }

    /// The number of pictures in a row.
    let perRow: Int
    /// The width of a picture in columns.
    let width: Int
    /// The height of a picture in lines. A character is about twice as high as it is wide.
    var height: Int { max(1, width * 2 / 5) }

    /// Computes the layout for a terminal with this number of columns.
    init(columns: Int) {
        perRow = max(1, (columns + Self.gap) / (Self.maximumWidth + Self.gap))
        width = max(8, min(Self.maximumWidth, (columns + Self.gap) / perRow - Self.gap))
    }

    /// Returns the lines of one row of tiles, followed by an empty line.
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
