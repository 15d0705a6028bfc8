internal import BusAPI
internal import DBus

/// Photos drawn on the terminal.
@MainActor
struct PhotoPreview {
    let client: AccountClient

    /// Draws one photo above what is said of it, if that can be.
    func show(_ photo: String) async {
        guard Picture.canShow, case .terminal(let columns, _) = OutputTarget.standardOutput,
            let path = await file(photo, "small")
        else { return }
        await Picture.show(path, columns: min(columns, 60), rows: 20)
    }

    /// Draws the photos of a page beside each other.
    ///
    /// - Throws: ``CommandFailure`` when nothing can be written.
    func show(_ page: PhotoPage) async throws(CommandFailure) {
        guard case .terminal(let columns, _) = OutputTarget.standardOutput else { return }
        let grid = PictureGrid(columns: columns)
        var rest = page.photos[...]
        while !rest.isEmpty {
            var tiles: [PictureGrid.Tile] = []
            for photo in rest.prefix(grid.perRow) {
                tiles.append(await tile(photo, grid))
            }
            rest = rest.dropFirst(grid.perRow)
            try Console.write(grid.text(tiles))
        }
    }

    private func tile(_ photo: [String: Variant], _ grid: PictureGrid) async -> PictureGrid.Tile {
        let id = photo[photo: .id]?.string ?? ""
        var picture: [String] = []
        if let path = await file(id, "thumb") {
            picture = await Picture.lines(path, columns: grid.width, rows: grid.height)
        }
        return PictureGrid.Tile(picture: picture, captions: [photo.caption, photo.reference])
    }

    /// The photo as a file; nil where there is none, as offline.
    private func file(_ photo: String, _ size: String) async -> String? {
        do {
            return try await client.imagePath(photo, size: size)
        } catch let error as BusError where error.isReply(.notSupported) {
            return try? await client.imagePath(photo, size: "full")
        } catch {
            return nil
        }
    }
}
