internal import ArgumentParser

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List every known account; * marks the default.")

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let snapshot = try await ServiceSession().snapshot()
        try output.show(AccountList(snapshot: snapshot))
        if snapshot.accounts.isEmpty {
            Console.note("There are no accounts yet. Log in with “imagefeedctl login PROVIDER”.")
        }
    }
}
