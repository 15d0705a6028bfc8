internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: tr("List the sources of an account; * marks the default source."))

    @OptionGroup var accountOption: CombinedAccountOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, defaultSource, account) = try await ServiceSession().feed(accountOption)
        let sources = try await namingLogin(of: account) { try await client.sources() }
        try output.show(SourceList(sources: sources, defaultSource: defaultSource))
    }
}
