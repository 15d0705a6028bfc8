internal import ArgumentParser
internal import BusAPI
internal import DBus

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Log out; the account stays known.")

    @Argument(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let account = try await session.snapshot().account(account)
        try await agree(to: account.question("Log out of \(account.label)"), unless: yes)
        let client = session.client.account(account.path)
        try await client.logout()
        Console.note("Logged out of \(account.label).")
        let properties = try await client.properties(.account)
        try output.show(Confirmation(JSON(properties, order: PropertyOrder.account)))
    }
}
