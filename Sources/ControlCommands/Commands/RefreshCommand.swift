internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: tr("Fetch new photos now, and print their number."))

    @Option(help: .account)
    var account: String?
    @Option(parsing: .unconditional, help: .source)
    var source = ""
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, account, _) = try await ServiceClient().feed(account)
        let count = try await addingHints(for: account, hasSource: true) {
            // The combined account has photos only.
            if source.isEmpty, client.path != ServiceName.combined {
                return try await client.refresh()
            }
            return try await client.refresh(source)
        }
        try output.show(["new": JSON(Int(count))]) { target in
            guard target != .pipe else { return [String(count)] }
            return [
                count == 0
                    ? tr("No new photos")
                    : trn("{count} new photo", "{count} new photos", Int(count))
            ]
        }
    }
}
