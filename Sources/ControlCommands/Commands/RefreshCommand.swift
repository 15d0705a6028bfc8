internal import ArgumentParser
internal import BusAPI
internal import DBus

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Ask the service for new photos now.")

    @Option(help: "An account's ID, or the beginning of one; else the default account.")
    var account: String?
    @Option(
        parsing: .unconditional, help: "A feed that “sources” lists; else the account's default.")
    var source = ""
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let (client, _) = try await ServiceSession().feed(account)
        let count = try await namingSources { try await client.refresh(source) }
        try output.show(NewPhotos(count: count))
    }
}
