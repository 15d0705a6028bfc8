internal import ArgumentParser

struct ProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers", abstract: "List what can be logged in to.")

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try output.show(ProviderList(providers: try await ServiceSession().snapshot().providers))
    }
}
