internal import ArgumentParser
internal import Contract
internal import Translation

struct LikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "like", abstract: tr("Like a photo."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            (true, try await client.like(photo))
        }
    }
}
