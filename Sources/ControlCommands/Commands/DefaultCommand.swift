internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

struct DefaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: tr("Set the default account."))

    @Argument(help: .tr("The ID of an account, or an unambiguous prefix of it."))
    var account: String
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let account = try await service.snapshot().account(account)
        try await addingHints(for: account) { try await service.setDefaultAccount(account.path) }
        Console.printMessage(tr("{account} is the default account.", ["account": account.id]))
        try output.show(["DefaultAccount": JSON(account.path.text)])
    }
}
