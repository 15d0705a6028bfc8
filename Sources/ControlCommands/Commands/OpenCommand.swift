internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: tr("Show a photo in the desktop's image viewer."))

    @OptionGroup var photo: PhotoArgument
    @Flag(help: .tr("Show the photo in the window of Image Feed instead."))
    var viewer = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let photo = try await service.photo(photo)
        if viewer {
            let reference = "\(photo.account.id)/\(photo.id)"
            // An unknown photo is an error of this command, not a message in the window.
            _ = try await addingHints(for: photo.account) { try await photo.client.photo(photo.id) }
            try await DesktopViewer.openWindow(reference, service.connection)
            return try output.show(["photo": JSON(reference)])
        }
        let path = try await addingHints(for: photo.account) {
            try await photo.client.imagePath(photo.id, size: ImageSize.full.rawValue)
        }
        try await DesktopViewer.openPhoto(path)
        try output.show(["path": JSON(path)])
    }
}
