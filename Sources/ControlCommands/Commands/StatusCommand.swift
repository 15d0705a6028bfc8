internal import ArgumentParser
internal import Translation

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: tr("Show the states of the daemon, the accounts and the providers."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try output.show(StatusScreen(snapshot: try await ServiceSession().snapshot()))
    }
}
