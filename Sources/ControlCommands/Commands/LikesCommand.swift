internal import ArgumentParser

struct LikesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "likes", abstract: "List the photos that you like.")

    @OptionGroup var accountOption: CombinedAccountOption
    @Option(help: "The number of photos to list.")
    var count = 30
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard count >= 1 else { throw ValidationError("--count must be 1 or more.") }
    }

    @MainActor func run() async throws {
        let client = try await ServiceSession().feed(accountOption).client
        // Every provider with likes has the source `likes`.
        let walk = FeedWalk(
            source: "likes", limit: count, isCombined: accountOption.combined,
            continuationHint: "There are more photos. List them with --count.")
        try await walk.run(client, output)
    }
}
