internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import System
internal import Translation

struct ConfigureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure",
        abstract: tr("Set the client ID and client secret of a provider."),
        discussion: tr(
            """
            Prompts for the client ID and the client secret of an application that you have registered \
            with the service. With --client-id or --client-secret-file, it does not prompt and sets \
            only the given values.
            """))

    @Argument(help: .init(tr("The ID of a provider, as listed by “imagefeedctl providers”.")))
    var provider: String
    @Option(
        name: .customLong("client-id"), parsing: .unconditional,
        help: .init(tr("The client ID that the service assigned to the application.")))
    var clientID: String?
    @Option(help: .init(tr("Read the client secret from this file; - reads standard input.")))
    var clientSecretFile: PathBytes?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if clientID?.isEmpty == true { throw ValidationError(tr("--client-id must not be empty.")) }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let provider = try await session.snapshot().provider(provider)
        let dialogue = ConfigurationDialogue(session.client, provider)
        try await dialogue.checkSettings()
        let isGiven = clientID != nil || clientSecretFile != nil
        let client = session.client.provider(provider.path)
        try await client.configure(
            isGiven ? try await settingsFromOptions() : try await dialogue.prompt())
        let properties = try await client.properties()
        Console.printMessage(
            properties["Configured"]?.bool == false
                ? tr(
                    "{provider} is not completely configured yet. Set the other value, too.",
                    ["provider": provider.name])
                : tr(
                    "{provider} is configured. Log in with “imagefeedctl login {id}”.",
                    ["provider": provider.name, "id": provider.id])
        )
        try output.show(JSONResult(JSON(properties, of: .provider)))
    }

    @MainActor private func settingsFromOptions() async throws(CommandFailure) -> [ProviderSetting:
        Variant]
    {
        var settings: [ProviderSetting: Variant] = [:]
        settings[.clientID] = clientID.map { .string($0) }
        if let clientSecretFile {
            settings[.clientSecret] = .fileDescriptor(
                try await SecretFile(clientSecretFile, .clientSecret).descriptor())
        }
        return settings
    }
}
