internal import Contract
internal import DBus
internal import Translation

/// The prompts for the settings of a provider.
@MainActor
struct ConfigurationDialogue {
    private let client: ServiceClient
    private let provider: ProviderProperties

    init(_ client: ServiceClient, _ provider: ProviderProperties) {
        self.client = client
        self.provider = provider
    }

    /// Checks before the prompts that the provider has settings.
    ///
    /// - Throws: ``CommandFailure`` if the provider has no settings or cannot be used.
    func checkSettings() async throws(CommandFailure) {
        if provider.state != "ready", !provider.stateReason.isEmpty {
            throw CommandFailure(
                .failed,
                tr(
                    "{provider} cannot be configured: {reason}",
                    ["provider": provider.name, "reason": provider.stateReason]))
        }
        do {
            try await client.provider(provider.path).configure([:])
        } catch let error as BusError where error.isReply(.notSupported) {
            throw CommandFailure(
                .failed,
                tr(
                    "“{provider}” has no settings. Log in with “imagefeedctl login {id}”.",
                    ["provider": provider.name, "id": provider.id])
            )
        } catch {
            // Other errors are reported by the call that sets the values.
        }
    }

    /// Prompts for the client ID and the client secret.
    ///
    /// - Returns: The values that were entered; an empty line means no change.
    /// - Throws: ``CommandFailure`` if there is no terminal, or if nothing was entered.
    func prompt() async throws(CommandFailure) -> [ProviderSetting: Variant] {
        guard Console.canPrompt else {
            throw CommandFailure(
                .usage,
                tr(
                    "Standard input is not a terminal. Pass the values with --client-id ID and --client-secret-file FILE."
                )
            )
        }
        for line in explanation { Console.printMessage(line) }
        var settings: [ProviderSetting: Variant] = [:]
        Console.prompt(tr("Client ID:"))
        let id = (await StandardInput.line() ?? "").trimmed
        if !id.isEmpty { settings[.clientID] = .string(id) }
        let secret = try await SecretFile.prompt(.clientSecret)
        if let secret { settings[.clientSecret] = .fileDescriptor(secret) }
        guard !settings.isEmpty else {
            throw CommandFailure(.failed, tr("Nothing was entered. The settings were not changed."))
        }
        return settings
    }

    private var explanation: [String] {
        let redirect = provider.redirectAddress
        let heading = tr("Redirect URLs of the application:")
        let help =
            provider.help.isEmpty
            ? tr("Register an application with {provider}.", ["provider": provider.name])
            : provider.help
        return [
            provider.isConfigured
                ? tr(
                    "{provider} is already configured. Leave a value empty to keep it.",
                    ["provider": provider.name]) : help
        ]
            + (redirect.isEmpty
                ? []
                : [
                    "\(heading)  \(redirect)",
                    String(repeating: " ", count: heading.displayWidth + 2)
                        + LoginDialogue.outOfBandAddress,
                ])
    }
}

extension String {
    /// The text without surrounding white space, which pasted text often has.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
