internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: tr("Fetch new photos now, and print their number."))

    @OptionGroup var accountOption: AccountOption
    @OptionGroup var sourceOption: SourceOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, account) = try await ServiceSession().feed(accountOption.account)
        let count = try await addingSourceHint(account: account) {
            try await client.refresh(sourceOption.source)
        }
        try output.show(RefreshResult(count: count))
    }
}
