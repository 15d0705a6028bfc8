internal import ArgumentParser
internal import BusAPI
internal import DBus

struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "List the feeds of an account; * marks its default.")

    @Option(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, account) = try await ServiceSession().feed(account)
        try output.show(
            SourceList(
                sources: try await client.sources(), defaultSource: account.defaultSource))
    }
}
