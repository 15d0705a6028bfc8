internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
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

/// The number of new photos that a refresh found.
struct RefreshResult: Renderable {
    let count: UInt32

    var json: JSON { .object([.init("new", .integer(Int64(count)))]) }

    func text(for target: OutputTarget) -> String {
        guard target != .pipe else { return "\(count)\n" }
        let text =
            count == 0
            ? tr("No new photos") : trn("{count} new photo", "{count} new photos", Int(count))
        return text + "\n"
    }
}
