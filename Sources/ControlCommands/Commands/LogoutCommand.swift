internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Log out of an account; it stays in the list of accounts.")

    @Argument(
        help: "The ID of an account, or an unambiguous prefix. If omitted: the default account.")
    var account: String?
    @Flag(help: "Do not ask for confirmation.")
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let account = try await session.snapshot().account(account)
        try await requireConfirmation(
            account.confirmationQuestion("Log out of \(account.label)"), isGiven: yes)
        let client = session.client.account(account.path)
        try await client.logout()
        Console.printMessage("Logged out of \(account.label).")
        let properties = try await client.properties(.account)
        try output.show(JSONResult(JSON(properties, order: PropertyOrder.account)))
    }
}
