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
    @Flag(help: "Show the photos themselves, drawn by chafa; in a pipe, list them.")
    var grid = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
        if all, count != nil { throw ValidationError("--all and --count exclude each other.") }
        if grid, output.json { throw ValidationError("--grid and --json exclude each other.") }
    }

    @MainActor func run() async throws {
        let client = try await ServiceSession().feed(account).client
        let walk = FeedWalk(
            source: source, start: cursor, wanted: all ? nil : count ?? 30, isGrid: grid,
            advice: "There are more: add --count or --all.")
        try await namingSources { try await walk.run(client, output) }
    }
}
