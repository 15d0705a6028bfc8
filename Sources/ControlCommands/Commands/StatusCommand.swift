internal import ArgumentParser

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the daemon, the accounts and how they are.")

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try output.show(StatusScreen(snapshot: try await ServiceSession().snapshot()))
    }
}
