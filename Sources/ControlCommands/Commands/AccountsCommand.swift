internal import ArgumentParser
internal import Contract

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List all known accounts; * marks the default account.")

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let snapshot = try await ServiceSession().snapshot()
        try output.show(AccountList(snapshot: snapshot))
        if snapshot.accounts.isEmpty {
            Console.printMessage(
                "There are no accounts. Log in with “imagefeedctl login PROVIDER”.")
        }
    }
}
