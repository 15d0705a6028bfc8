internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: tr("Log out of an account; it stays in the list of accounts."))

    @Argument(help: .account)
    var account: String?
    @Flag(help: .tr("Do not ask for confirmation."))
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let account = try await service.snapshot().account(account)
        try await requireConfirmation(account.logoutQuestion, isGiven: yes)
        let client = service.account(account.path)
        try await client.logout()
        Console.printMessage(tr("Logged out of {account}.", ["account": account.label]))
        var properties = try await client.properties(.account)
        // A password is revoked in the background.
        for _ in 0..<20 {
            guard properties["Notices"]?.strings?.isEmpty == false else { break }
            try await Task.sleep(for: .milliseconds(100))
            properties = try await client.properties(.account)
        }
        for notice in properties["Notices"]?.strings ?? [] { Console.printMessage(notice) }
        try output.show(JSON(properties, of: .account))
    }
}
