internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: tr("List photos, newest first."))

    @OptionGroup var accountOption: CombinedAccountOption
    @OptionGroup var sourceOption: SourceOption
    @Option(help: .init(tr("The number of photos to list. (default: 30)")))
    var count: Int?
    @Option(
        parsing: .unconditional,
        help: .init(tr("Continue after an earlier list: the value of “next” in its --json output."))
    )
    var cursor = ""
    @Flag(help: .init(tr("List all photos.")))
    var all = false
    @Flag(
        help: .init(tr("Draw the photos on the terminal with chafa. In a pipe, list them as text."))
    )
    var grid = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError(tr("--count must be 1 or more.")) }
        if all, count != nil { throw ValidationError(tr("--all cannot be combined with --count.")) }
        if grid, output.json { throw ValidationError(tr("--grid cannot be combined with --json.")) }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let (client, _, account) = try await session.feed(accountOption)
        var walk = FeedWalk(
            source: sourceOption.source, firstCursor: cursor, limit: all ? nil : count ?? 30,
            isGrid: grid, isCombined: accountOption.combined,
            continuationHint: tr("There are more photos. List them with --count or --all."))
        walk.problems = { await session.problems(of: account) }
        try await addingSourceHint(account: account, isCombined: accountOption.combined) {
            try await walk.run(client, output)
        }
    }
}
