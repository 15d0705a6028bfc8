internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: tr("Log out of an account and delete its data; photo files are kept."))

    @Argument(help: .tr("The ID of an account, or an unambiguous prefix of it."))
    var account: String
    @Flag(help: .tr("Do not ask for confirmation."))
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let account = try await service.snapshot().account(account)
        try await requireConfirmation(account.removalQuestion, isGiven: yes)
        let warning = try await service.account(account.path).remove()
        Console.printMessage(tr("Removed {account}.", ["account": account.label]))
        if let warning { Console.printMessage(warning) }
        try output.show(["Id": JSON(account.id)])
    }
}
