internal import ArgumentParser
internal import Contract
internal import System
internal import Translation

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: tr("Print the path of a local file that contains a photo."),
        discussion: tr("The image cache may delete the file later: open or copy it at once."))

    @OptionGroup var photo: PhotoArgument
    @Option(help: .tr("The size of the image: thumb, small, regular or full."))
    var size = ImageSize.full
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let photo = try await ServiceClient().photo(photo)
        let path = try await addingHints(for: photo.account) {
            try await photo.client.imagePath(photo.id, size: size.rawValue)
        }
        try output.show(PathBytes(path))
    }
}

/// The image sizes of the D-Bus method `Feed.GetImage`.
enum ImageSize: String, ExpressibleByArgument, CaseIterable {
    case thumb
    case small
    case regular
    case full
}
