internal import ArgumentParser
internal import BusAPI
internal import DBus

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "List photos, the newest first.")

    @Option(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @Option(
        parsing: .unconditional, help: "A feed that “sources” lists; else the account's default.")
    var source = ""
    @Option(help: "How many photos.")
    var count: Int?
    @Option(
        parsing: .unconditional,
        help: "Go on where an earlier page ended: its “next”, as --json prints it.")
    var cursor = ""
    @Flag(help: "List all photos to the end.")
    var all = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
        if all, count != nil { throw ValidationError("--all and --count exclude each other.") }
    }

    @MainActor func run() async throws {
        let client = try await ServiceSession().feed(account).client
        let wanted = all ? Int.max : count ?? 30
        var listing = FeedListing(medium: .standardOutput)
        var photos = PhotoPage(photos: [], next: cursor)
        var listed = 0
        repeat {
            let (page, next) = try await client.page(
                source, cursor: photos.next, count: UInt32(min(100, wanted - listed)))
            listed += page.count
            if output.json {
                photos.photos += page
            } else {
                try Console.write(listing.text(of: PhotoPage(photos: page, next: next)))
            }
            photos.next = next
            // An empty page that has a next one breaks the contract; walking on might never end.
            if page.isEmpty { break }
        } while listed < wanted && !photos.next.isEmpty
        if output.json { try output.show(photos) }
        if !output.json { explainEnd(listed, photos.next) }
    }

    @MainActor private func explainEnd(_ listed: Int, _ next: String) {
        if listed == 0 {
            Console.note(cursor.isEmpty ? "There are no photos." : "There are no more photos.")
        } else if !next.isEmpty, Medium.standardOutput != .pipe {
            Console.note("There are more: add --count or --all.")
        }
    }
}
