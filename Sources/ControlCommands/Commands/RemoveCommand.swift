internal import ArgumentParser
internal import BusAPI
internal import DBus

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Log out and forget an account; photos stay.")

    @Argument(help: "An account's ID, or the beginning of one.")
    var account: String
    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let account = try await session.snapshot().account(account)
        try await agree(
            to: account.question("Remove \(account.label) (\(account.id))"), unless: yes)
        let remainder = try await session.client.account(account.path).remove()
        Console.note("Removed \(account.label).")
        if let remainder { Console.note(remainder) }
        try output.show(Confirmation([.init("Id", .string(account.id))]))
    }
}
