internal import ArgumentParser
internal import Contract
internal import Translation

struct ProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers", abstract: tr("List the providers and their states."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let list = ProviderList(providers: try await ServiceSession().snapshot().providers)
        try output.show(list)
        if !output.json, OutputTarget.standardOutput != .pipe, let advice = list.advice {
            Console.printMessage(advice)
        }
    }
}
