internal import ArgumentParser

struct LikesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "likes", abstract: "List the photos that you like.")

    @Option(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @Option(help: "How many photos.")
    var count = 30
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard count >= 1 else { throw ValidationError("--count must be 1 or more.") }
    }

    @MainActor func run() async throws {
        let client = try await ServiceSession().feed(account).client
        // Source: every provider calls the source of its liked photos so.
        let walk = FeedWalk(source: "likes", wanted: count, advice: "There are more: add --count.")
        try await walk.run(client, output)
    }
}
