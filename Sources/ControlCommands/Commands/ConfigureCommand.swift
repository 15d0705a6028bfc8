internal import ArgumentParser
internal import BusAPI
internal import DBus

struct ConfigureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure", abstract: "Give a provider what its logins need.",
        discussion: """
            Asks for the client ID and the client secret of an application that you have registered \
            with the service. With one of the options it asks nothing, and changes that alone.
            """)

    @Argument(help: "What “providers” lists.")
    var provider: String
    @Option(
        name: .customLong("client-id"), parsing: .unconditional,
        help: "The name under which the service knows the application.")
    var clientID: String?
    @Option(help: "Read the client secret from this file; - is standard input.")
    var clientSecretFile: PathBytes?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if clientID?.isEmpty == true { throw ValidationError("The client ID is empty.") }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let provider = try await session.snapshot().provider(provider)
        let dialogue = ConfigurationDialogue(session.client, provider)
        try await dialogue.checkSettings()
        let isGiven = clientID != nil || clientSecretFile != nil
        let client = session.client.provider(provider.path)
        try await client.configure(isGiven ? try await given() : try await dialogue.ask())
        let properties = try await client.properties()
        Console.note(
            properties["Configured"]?.bool == false
                ? "\(provider.name) needs more before it is configured."
                : "\(provider.name) is configured. Log in with “imagefeedctl login \(provider.id)”."
        )
        try output.show(Confirmation(JSON(properties, order: PropertyOrder.provider)))
    }

    @MainActor private func given() async throws(CommandFailure) -> [ProviderSetting: Variant] {
        var settings: [ProviderSetting: Variant] = [:]
        settings[.clientID] = clientID.map { .string($0) }
        if let clientSecretFile {
            settings[.clientSecret] = .fileDescriptor(
                try await SecretFile(clientSecretFile, "client secret").descriptor())
        }
        return settings
    }
}
