internal import ArgumentParser
internal import Contract
internal import Translation

struct ToggleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: tr("Like a photo, or unlike it if it is liked."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await changeLike(of: photo, output) { client, photo in
            try await client.toggleLike(photo)
        }
    }
}
