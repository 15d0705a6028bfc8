/// A layout of drawn photos side by side, with captions below.
struct PictureGrid {
    /// The number of columns between two pictures.
    static let gap = 2
    /// The largest width of a picture in columns.
    static let maximumWidth = 26

    /// The lines of a picture, which may contain control sequences for colours, and its captions.
    typealias Tile = (picture: [String], captions: [String])

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
        let height = tiles.map(\.picture.count).max() ?? 0
        let columns = tiles.map { cells($0, height) }
        var text = ""
        for row in 0..<(columns.map(\.count).max() ?? 0) {
            var padding = 0
            for cells in columns {
                let cell = row < cells.count ? cells[row] : (text: "", width: 0)
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

    /// Returns the lines of a tile with their widths, with captions below the height of the pictures.
    private func cells(_ tile: Tile, _ height: Int) -> [(text: String, width: Int)] {
        let space = Array(repeating: "", count: height - tile.picture.count)
        let captions = tile.captions.map { TerminalText.line($0).truncated(to: width) }
        return (tile.picture + space + captions).map { ($0, $0.withoutEscapes.displayWidth) }
    }
}

extension String {
    /// The text without control sequences.
    ///
    /// Source: ECMA-48, 5.4: `ESC [`, parameters, and a final byte of `@` to `~`.
    var withoutEscapes: String {
        let parts = unicodeScalars.split(separator: "\u{1B}", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            let ending = part.dropFirst().drop { !("@"..."~" ~= $0) }
            text.unicodeScalars.append(contentsOf: ending.dropFirst())
        }
    }
}
