internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: tr("Print the link to a photo's page, with attribution."))

    @OptionGroup var photo: PhotoArgument
    @Flag(help: .tr("Also copy the link to the clipboard."))
    var copy = false
    @Flag(help: .tr("Also open the link in the browser."))
    var open = false
    @OptionGroup var output: OutputOptions

    func validate() throws { try exclude(("--copy", copy), ("--open", open)) }

    @MainActor func run() async throws {
        let photo = try await ServiceClient().photo(photo)
        let properties = try await addingHints(for: photo.account) {
            try await photo.client.photo(photo.id)
        }
        guard let address = properties.url, Self.isWebAddress(address) else {
            throw CommandFailure.tr("The photo has no link, because it has no public web page.")
        }
        try output.show(["url": JSON(address)]) { _ in [address] }
        if copy {
            try await copyToClipboard(address)
            Console.printMessage(tr("The link was copied to the clipboard."))
        }
        if open { try await DesktopViewer.openLink(address) }
    }

    /// Returns true if text of a service, which is not trusted, is the URL of a web page.
    ///
    /// The scheme is `http` or `https`, because a desktop opens other schemes with other programs. There are no spaces,
    /// line breaks or control characters.
    static func isWebAddress(_ text: String) -> Bool {
        let lowercased = text.lowercased()
        return (lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://"))
            && text.unicodeScalars.allSatisfy { ServiceText.isPermitted($0) && $0 != " " }
    }
}
