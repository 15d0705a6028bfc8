internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: tr("Log out of an account; it stays in the list of accounts."))

    @Argument(
        help: .tr(
            "The ID of an account, or an unambiguous prefix. If omitted: the default account."))
    var account: String?
    @Flag(help: .tr("Do not ask for confirmation."))
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let account = try await service.snapshot().account(account)
        try await requireConfirmation(
            account.logoutQuestion, isGiven: yes)
        let client = service.account(account.path)
        try await client.logout()
        Console.printMessage(tr("Logged out of {account}.", ["account": account.label]))
        let properties = try await client.properties(.account)
        try output.show(JSON(properties, of: .account))
    }
}
