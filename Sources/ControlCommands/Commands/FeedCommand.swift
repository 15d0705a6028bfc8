internal import ArgumentParser
internal import Translation

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: tr("List photos, newest first."))

    @OptionGroup var accountOption: CombinedAccountOption
    @Option(parsing: .unconditional, help: .source)
    var source = ""
    @Option(parsing: .unconditional, help: .tr("The number of photos to list. (default: 30)"))
    var count: Int?
    @Option(
        parsing: .unconditional,
        help: .tr("Continue after an earlier list: the value of “next” in its --json output.")
    )
    var cursor = ""
    @Flag(help: .tr("List all photos."))
    var all = false
    @Flag(help: .tr("Draw the photos on the terminal with chafa. In a pipe, list them as text."))
    var grid = false
    @Option(parsing: .unconditional, help: .format, transform: PhotoFormat.init)
    var format: PhotoFormat?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError(tr("--count must be 1 or more.")) }
        try exclude(("--all", all), ("--count", count != nil))
        try exclude(("--format", format != nil), output.use)
        try exclude(("--grid", grid), ("--format", format != nil))
        try exclude(("--grid", grid), output.use)
    }

    @MainActor func run() async throws {
        let walk = FeedWalk(
            account: accountOption, source: source, firstCursor: cursor,
            limit: all ? nil : count ?? 30, isGrid: grid, format: format,
            continuationHint: tr("There are more photos. List them with --count or --all."))
        try await walk.run(output)
    }
}
