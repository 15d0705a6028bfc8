internal import ArgumentParser
internal import Contract
internal import Translation

struct UnlikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlike", abstract: tr("Unlike a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            (false, try await client.unlike(photo))
        }
    }
}
