internal import ArgumentParser
internal import Translation

struct LikesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "likes", abstract: tr("List the photos that you like."))

    @OptionGroup var accountOption: CombinedAccountOption
    @Option(help: .init(tr("The number of photos to list.")))
    var count = 30
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard count >= 1 else { throw ValidationError(tr("--count must be 1 or more.")) }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let (client, _, account) = try await session.feed(accountOption)
        // Every provider with likes has the source `likes`.
        var walk = FeedWalk(
            source: "likes", limit: count, isCombined: accountOption.combined,
            continuationHint: tr("There are more photos. List them with --count."))
        walk.problems = { await session.problems(of: account) }
        try await addingSourceHint(account: account, isCombined: accountOption.combined) {
            try await walk.run(client, output)
        }
    }
}
