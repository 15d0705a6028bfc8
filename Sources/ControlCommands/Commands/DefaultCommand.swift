internal import ArgumentParser
internal import BusAPI
internal import DBus

struct DefaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: "Choose the account for commands that name none.")

    @Argument(help: "An account's ID, or the beginning of one.")
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
        Console.note("\(account.id) is the default account.")
        try output.show(Confirmation([.init("DefaultAccount", .string(account.path.text))]))
    }
}
