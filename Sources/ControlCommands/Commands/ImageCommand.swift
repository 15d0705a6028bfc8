internal import ArgumentParser
internal import BusAPI
internal import DBus

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Print the path of a local file with a photo.",
        discussion: "The file may go once it is not used for a while: copy it, or open it at once.")

    @OptionGroup var photo: PhotoArgument
    @Option(help: "thumb, small, regular or full.")
    var size = ImageSize.full
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(photo.reference.account)
        let path = try await client.imagePath(photo.reference.id, size: size.rawValue)
        try output.show(FilePath(path: PathBytes(path)))
    }
}

/// The sizes that `Feed.GetImage` knows.
enum ImageSize: String, ExpressibleByArgument, CaseIterable {
    case thumb
    case small
    case regular
    case full
}
