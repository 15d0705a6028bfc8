internal import ArgumentParser
internal import Contract
internal import Translation

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: tr("List all known accounts; * marks the default account."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let snapshot = try await ServiceSession().snapshot()
        try output.show(AccountList(snapshot: snapshot))
        if snapshot.accounts.isEmpty {
            Console.printMessage(
                tr("There are no accounts. Log in with “imagefeedctl login PROVIDER”."))
        }
    }
}
