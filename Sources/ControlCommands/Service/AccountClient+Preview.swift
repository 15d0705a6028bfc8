internal import Contract
internal import DBus

/// Previews of photos on the terminal.
extension AccountClient {
    /// Draws one photo, if the terminal and `chafa` allow it.
    func drawPhoto(_ photo: String) async {
        guard Picture.canShow, case .terminal(let columns, _) = OutputTarget.standardOutput,
            let path = await previewPath(photo, "small")
        else { return }
        await Picture.show(path, columns: min(columns, 60), rows: 20)
    }

    /// Draws the photos of a page in a grid.
    ///
    /// - Throws: ``CommandFailure`` if standard output cannot be written.
    func drawPage(_ page: PhotoPage) async throws(CommandFailure) {
        let target = OutputTarget.standardOutput
        guard case .terminal(let columns, _) = target else { return }
        let grid = PictureGrid(columns: columns)
        var rest = page.photos[...]
        while !rest.isEmpty {
            var tiles: [PictureGrid.Tile] = []
            for photo in rest.prefix(grid.perRow) {
                let path = await previewPath(photo.id, "thumb")
                tiles.append(
                    (
                        await Picture.lines(path, columns: grid.width, rows: grid.height),
                        [photo.caption, page.reference(of: photo, for: target)]
                    ))
            }
            rest = rest.dropFirst(grid.perRow)
            try Console.write(grid.text(tiles))
        }
    }

    /// Returns the path of the photo's image; nil if it is not available, for example while offline.
    private func previewPath(_ photo: String, _ size: String) async -> String? {
        do {
            return try await imagePath(photo, size: size)
        } catch let error as BusError where error.isReply(.notSupported) {
            return try? await imagePath(photo, size: "full")
        } catch {
            return nil
        }
    }
}
