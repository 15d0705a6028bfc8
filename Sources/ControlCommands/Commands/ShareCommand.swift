internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: tr("Print the link to a photo's page, with attribution."))

    @OptionGroup var photo: PhotoArgument
    @Flag(help: .init(tr("Also copy the link to the clipboard.")))
    var copy = false
    @Flag(help: .init(tr("Also open the link in the browser.")))
    var open = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if copy, open { throw ValidationError(tr("--copy cannot be combined with --open.")) }
    }

    @MainActor func run() async throws {
        let photo = try await ServiceSession().photo(photo)
        let properties = try await namingLogin(of: photo.account) {
            try await photo.client.photo(photo.id)
        }
        guard let link = Link(properties.url ?? "") else {
            throw CommandFailure(
                .failed, tr("The photo has no link, because it has no public web page."))
        }
        try output.show(link)
        if copy {
            try await Clipboard.copy(link.address)
            Console.printMessage(tr("The link was copied to the clipboard."))
        }
        if open { try await DesktopViewer.openLink(link.address) }
    }
}

/// The URL of a web page.
struct Link: Renderable {
    let address: String

    /// Creates a link from text of a service, which is not trusted.
    ///
    /// - Parameter text: The URL. The result is nil unless the scheme is `http` or `https`, because a desktop opens
    ///   other schemes with other programs. It is also nil if the text contains spaces, line breaks or control
    ///   characters.
    init?(_ text: String) {
        let lowercased = text.lowercased()
        guard lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://"),
            text.unicodeScalars.allSatisfy({ !TerminalText.isUnwanted($0) && $0 != " " })
        else { return nil }
        address = text
    }

    var json: JSON { .object([.init("url", .string(address))]) }
    func text(for target: OutputTarget) -> String { address + "\n" }
}
