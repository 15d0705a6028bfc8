internal import ArgumentParser
internal import Translation

struct LikesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "likes", abstract: tr("List the photos that you like."))

    @OptionGroup var accountOption: CombinedAccountOption
    @Option(parsing: .unconditional, help: .tr("The number of photos to list."))
    var count = 30
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard count >= 1 else { throw ValidationError(tr("--count must be 1 or more.")) }
    }

    @MainActor func run() async throws {
        // Every provider with likes has the source `likes`.
        let walk = FeedWalk(
            account: accountOption, source: "likes", limit: count,
            continuationHint: tr("There are more photos. List them with --count."))
        try await walk.run(output)
    }
}
