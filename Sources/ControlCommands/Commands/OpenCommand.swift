internal import ArgumentParser
internal import BusAPI
internal import DBus

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Show a photo in the desktop's image viewer.")

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let photo = try await ServiceSession().photo(photo)
        let path = try await photo.client.imagePath(photo.id, size: ImageSize.full.rawValue)
        try await DesktopViewer.openPhoto(path)
        try output.show(JSONResult([.init("path", .string(path))]))
    }
}
