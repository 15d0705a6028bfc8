internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: tr("Show all known properties of a photo."),
        discussion: tr("On a terminal, the photo is drawn as well if chafa is installed."))

    @OptionGroup var photo: PhotoArgument
    @Option(parsing: .unconditional, help: .format, transform: PhotoFormat.init)
    var format: PhotoFormat?
    @OptionGroup var output: OutputOptions

    func validate() throws { try exclude(("--format", format != nil), output.use) }

    @MainActor func run() async throws {
        let photo = try await ServiceClient().photo(photo)
        let properties = try await addingHints(for: photo.account) {
            try await photo.client.photo(photo.id)
        }
        if let format { return try Console.write(format.line(properties)) }
        if !output.json { await photo.client.drawPhoto(photo.id) }
        try output.show(properties)
    }
}

/// The photo argument of a command. Without it, the photo is the current one of the slideshow.
struct PhotoArgument: ParsableArguments {
    @Argument(
        help: .tr(
            "ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account, or “current” for the current photo of the slideshow, which is also the default.",
            valueName: "photo"),
        transform: PhotoReference.parse)
    var reference: PhotoReference?

    /// Checks the argument of a command that changes something.
    ///
    /// Without an argument, such a command uses the current photo only if a user types it in a terminal: in a script,
    /// the argument may be a variable without a value.
    ///
    /// - Throws: ``CommandFailure`` for a missing argument.
    @MainActor func requireIntent() throws(CommandFailure) {
        guard reference == nil, !Console.isTyped else { return }
        throw .tr(
            "Name a photo, or pass “current” for the current photo of the slideshow.",
            status: .usage)
    }
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
