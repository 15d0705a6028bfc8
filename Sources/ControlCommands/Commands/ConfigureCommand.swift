internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import System
internal import Translation

struct ConfigureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configure",
        abstract: tr(
            "Set the client ID and client secret of a provider, or the settings of local."),
        discussion: tr(
            """
            Prompts for the client ID and the client secret of an application that you have registered \
            with the service. With --client-id or --client-secret-file, it does not prompt and sets \
            only the given values. The settings of the provider “local” are in the configuration file, and \
            take effect at once.
            """))

    @Argument(help: .tr("The ID of a provider, as listed by “imagefeedctl providers”."))
    var provider: String
    @Option(
        name: .customLong("client-id"), parsing: .unconditional,
        help: .tr("The client ID that the service assigned to the application."))
    var clientID: String?
    @Option(help: .tr("Read the client secret from this file; - reads standard input."))
    var clientSecretFile: PathBytes?
    @OptionGroup var local: LocalSettings
    @OptionGroup var output: OutputOptions

    private var isLocal: Bool { provider == "local" }

    func validate() throws {
        if isLocal, !local.isGiven || clientID != nil || clientSecretFile != nil {
            throw ValidationError(
                tr("“local” has no client ID. Pass --directory, --exclude or --order."))
        }
        if !isLocal, local.isGiven {
            throw ValidationError(
                tr("--directory, --exclude and --order are settings of the provider “local”."))
        }
        if clientID?.isEmpty == true { throw ValidationError(tr("--client-id must not be empty.")) }
    }

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let provider = try await service.provider(provider)
        let client = service.provider(provider.path)
        if isLocal {
            try await local.apply(to: provider, of: service)
            return try output.show(JSON(try await client.properties(), of: .provider))
        }
        try await checkSettings(of: provider, client)
        var (id, secret): (String?, FileDescriptor?) = (clientID, nil)
        if let clientSecretFile {
            secret = try await SecretKind.clientSecret.read(from: clientSecretFile)
        } else if clientID == nil {
            (id, secret) = try await prompt(for: provider)
        }
        var settings: [ProviderSetting: Variant] = [:]
        settings[.clientID] = id.map { .string($0) }
        settings[.clientSecret] = secret.map { .fileDescriptor($0) }
        try await client.configure(settings)
        let properties = try await client.properties()
        Console.printMessage(
            properties["Configured"]?.bool == false
                ? tr(
                    "{provider} is not completely configured yet. Set the other value, too.",
                    ["provider": provider.name])
                // The daemon reads the secret only when it is needed.
                : secret == nil
                    ? tr(
                        "The client ID is stored. If the client secret is not, pass it with --client-secret-file FILE; then log in with “imagefeedctl login {id}”.",
                        ["id": provider.id])
                    : tr(
                        "{provider} is configured. Log in with “imagefeedctl login {id}”.",
                        ["provider": provider.name, "id": provider.id])
        )
        try output.show(JSON(properties, of: .provider))
    }

    /// Checks before the prompts that the provider has a client ID.
    ///
    /// - Throws: ``CommandFailure`` if the provider has no client ID or cannot be used.
    @MainActor private func checkSettings(
        of provider: ProviderProperties, _ client: ProviderClient
    ) async throws(CommandFailure) {
        if provider.state != "ready", !provider.stateReason.isEmpty {
            throw CommandFailure.tr(
                "{provider} cannot be configured: {reason}",
                ["provider": provider.name, "reason": provider.stateReason])
        }
        do {
            try await client.configure([:])
        } catch let error as BusError where error.isReply(.notSupported) {
            throw CommandFailure.tr(
                "“{provider}” has no client ID; imagefeed.conf(5) describes its settings, such as Contact=. Log in with “imagefeedctl login {id}”.",
                ["provider": provider.name, "id": provider.id])
        } catch {
            // Other errors are reported by the call that sets the values.
        }
    }

    /// Prompts for the client ID and the client secret.
    ///
    /// - Returns: The values that were entered; nil for an empty line, which means no change.
    /// - Throws: ``CommandFailure`` if there is no terminal, or if nothing was entered.
    @MainActor private func prompt(
        for provider: ProviderProperties
    ) async throws(CommandFailure) -> (id: String?, secret: FileDescriptor?) {
        guard Console.canPrompt else {
            throw CommandFailure.tr(
                "Standard input is not a terminal. Pass the values with --client-id ID and --client-secret-file FILE.",
                status: .usage)
        }
        Console.printMessage(
            provider.isConfigured
                ? tr(
                    "{provider} is already configured. Leave a value empty to keep it.",
                    ["provider": provider.name])
                : provider.help.isEmpty
                    ? tr("Register an application with {provider}.", ["provider": provider.name])
                    : provider.help)
        if !provider.redirectAddress.isEmpty {
            let heading = tr("Redirect URLs of the application:")
            Console.printMessage("\(heading)  \(provider.redirectAddress)")
            Console.printMessage(
                String(repeating: " ", count: heading.displayWidth + 2)
                    + LoginDialogue.outOfBandAddress)
        }
        guard let id = await StandardInput.line(tr("Client ID:")) else {
            throw CommandFailure.tr("Nothing was entered.", status: .interrupted)
        }
        let secret = try await SecretKind.clientSecret.prompt()
        guard !id.isEmpty || secret != nil else {
            throw CommandFailure.tr("Nothing was entered. The settings were not changed.")
        }
        return (id.isEmpty ? nil : id, secret)
    }
}
