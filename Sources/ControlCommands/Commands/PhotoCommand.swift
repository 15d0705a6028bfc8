internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: tr("Show all known properties of a photo."),
        discussion: tr("On a terminal, the photo is drawn as well if chafa is installed."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let photo = try await ServiceClient().photo(photo)
        let properties = try await addingHints(for: photo.account) {
            try await photo.client.photo(photo.id)
        }
        if !output.json { await photo.client.drawPhoto(photo.id) }
        try output.show(properties)
    }
}

/// The photo argument of a command.
struct PhotoArgument: ParsableArguments {
    @Argument(
        help: .tr(
            "ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account. If omitted: the current photo of the slideshow.",
            valueName: "photo"),
        transform: PhotoReference.parse)
    var reference: PhotoReference?
}

/// The output of a photo is the list of all known properties.
extension PhotoEntry: Renderable {
    var json: JSON { .object(values.map { JSON.Member($0.key, JSON($0.value)) }) }

    func text(for target: OutputTarget) -> String {
        target.details(values.map { (target.word($0.key), target.text($0.key, $0.value)) })
    }

    /// The title; without a title, the description.
    var caption: String { photo.title ?? photo.description ?? "" }
}
