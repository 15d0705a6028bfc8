internal import ArgumentParser
internal import BusAPI
internal import DBus

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: "Show everything known about one photo.",
        discussion: "Where chafa is installed, a terminal shows the photo itself, too.")

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(photo.reference.account)
        let sheet = PhotoDetails(photo: try await client.photo(photo.reference.id))
        if !output.json { await PhotoPreview(client: client).show(photo.reference.id) }
        try output.show(sheet)
    }
}

/// The photo that a command is about.
struct PhotoArgument: ParsableArguments {
    @Argument(
        help: .init(
            "ACCOUNT/ID as the lists print it, or the ID of a photo of the default account.",
            valueName: "photo"),
        transform: PhotoReference.init)
    var reference: PhotoReference

    func validate() throws {
        guard !reference.id.isEmpty else { throw ValidationError("The photo has no ID.") }
    }
}
