internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: tr("Show all known properties of a photo."),
        discussion: tr("On a terminal, the photo is drawn as well if chafa is installed."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let photo = try await ServiceSession().photo(photo)
        let properties = try await namingLogin(of: photo.account) {
            try await photo.client.photo(photo.id)
        }
        let details = PhotoDetails(photo: properties)
        if !output.json { await PhotoPreview(client: photo.client).show(photo.id) }
        try output.show(details)
    }
}

/// The photo argument of a command.
struct PhotoArgument: ParsableArguments {
    @Argument(
        help: .init(
            tr(
                "ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account. If omitted: the current photo of the slideshow."
            ),
            valueName: "photo"),
        transform: PhotoReference.init)
    var reference: PhotoReference?

    func validate() throws {
        if reference?.id.isEmpty == true {
            throw ValidationError(tr("The photo argument has no ID."))
        }
    }
}
