internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import Translation

struct DefaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: tr("Set the default account."))

    @Argument(help: .init(tr("The ID of an account, or an unambiguous prefix of it.")))
    var account: String
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let account = try await session.snapshot().account(account)
        do {
            try await session.client.manager.setDefaultAccount(account.path)
        } catch let error as BusError where error.isReply(.needsLogin) {
            throw CommandFailure(error, advice: account.loginAdvice)
        }
        Console.printMessage(
            tr("{account} is the default account.", ["account": account.id]))
        try output.show(JSONResult([.init("DefaultAccount", .string(account.path.text))]))
    }
}
