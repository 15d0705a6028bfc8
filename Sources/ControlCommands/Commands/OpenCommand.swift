internal import ArgumentParser
internal import BusAPI
internal import DBus

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Show a photo in the desktop's image viewer.")

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(photo.reference.account)
        let path = try await client.imagePath(
            photo.reference.id, size: ImageSize.full.rawValue)
        try await DesktopViewer.openPhoto(path)
        try output.show(JSONResult([.init("path", .string(path))]))
    }
}
