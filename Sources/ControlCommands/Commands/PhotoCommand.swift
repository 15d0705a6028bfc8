internal import ArgumentParser
internal import BusAPI
internal import DBus

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: "Show all known properties of a photo.",
        discussion: "On a terminal, the photo is drawn as well if chafa is installed.")

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(photo.reference.account)
        let details = PhotoDetails(photo: try await client.photo(photo.reference.id))
        if !output.json { await PhotoPreview(client: client).show(photo.reference.id) }
        try output.show(details)
    }
}

/// The photo argument of a command.
struct PhotoArgument: ParsableArguments {
    @Argument(
        help: .init(
            "ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account.",
            valueName: "photo"),
        transform: PhotoReference.init)
    var reference: PhotoReference

    func validate() throws {
        guard !reference.id.isEmpty else { throw ValidationError("The photo argument has no ID.") }
    }
}
