internal import ArgumentParser
internal import BusAPI
internal import DBus

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Print the link to a photo, which names its author.")

    @OptionGroup var photo: PhotoArgument
    @Flag(help: "Put the link on the clipboard, too.")
    var copy = false
    @Flag(help: "Open the link in the browser, too.")
    var open = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if copy, open { throw ValidationError("--copy and --open exclude each other.") }
    }

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(photo.reference.account)
        let photo = try await client.photo(photo.reference.id)
        guard let link = Link(photo[photo: .url]?.string ?? "") else {
            throw CommandFailure(
                .failed, "The photo has no link: it is on no service that others can reach.")
        }
        try output.show(link)
        if copy {
            try await Clipboard.put(link.address)
            Console.note("The link is on the clipboard.")
        }
        if open { try await DesktopViewer.follow(link.address) }
    }
}
