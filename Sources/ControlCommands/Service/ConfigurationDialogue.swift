internal import BusAPI
internal import DBus

/// Asks a person for the settings of a provider, after telling where to get them.
@MainActor
struct ConfigurationDialogue {
    private let client: ServiceClient
    private let provider: ProviderRecord

    init(_ client: ServiceClient, _ provider: ProviderRecord) {
        self.client = client
        self.provider = provider
    }

    /// Makes sure that there is something to configure, before anybody types.
    ///
    /// - Throws: ``CommandFailure`` for a provider without settings, or one that cannot be used.
    func checkSettings() async throws(CommandFailure) {
        if provider.state != "ready", let problem = provider.problem {
            throw CommandFailure(.failed, "There is nothing to configure for \(problem)")
        }
        do {
            try await client.provider(provider.path).configure([:])
        } catch let error as BusError where error.isReply(.notSupported) {
            throw CommandFailure(
                .failed, "There is nothing to configure for “\(provider.name)”: it has no settings."
            )
        } catch {
            // Whatever else is wrong, the call that matters tells.
        }
    }

    /// The client id and the client secret, each unless nothing was typed.
    ///
    /// - Throws: ``CommandFailure`` where nobody can be asked, or when nothing was typed at all.
    func ask() async throws(CommandFailure) -> [ProviderSetting: Variant] {
        guard Console.canAsk else {
            throw CommandFailure(
                .usage,
                "There is no terminal to ask on; add --client-id ID and --client-secret-file FILE.")
        }
        for line in await explanation() { Console.note(line) }
        var settings: [ProviderSetting: Variant] = [:]
        Console.ask("Client ID:")
        let id = (await StandardInput.line() ?? "").trimmed
        if !id.isEmpty { settings[.clientID] = .string(id) }
        let secret = try await SecretFile.ask(for: "client secret")
        if let secret { settings[.clientSecret] = .fileDescriptor(secret) }
        guard !settings.isEmpty else {
            throw CommandFailure(.failed, "Nothing was entered, and nothing is changed.")
        }
        return settings
    }

    private func explanation() async -> [String] {
        let redirect = provider.redirectAddress
        return [
            provider.isConfigured
                ? "\(provider.name) is configured already; what is left empty stays as it is."
                : await help() ?? "Register an application with \(provider.name)."
        ]
            + (redirect.isEmpty
                ? []
                : [
                    "Redirect addresses to enter there:  \(redirect)",
                    "                                    \(LoginDialogue.outOfBandAddress)",
                ])
    }

    /// Where to register an application, in the words of the daemon: they come with the refusal of a login.
    private func help() async -> String? {
        do {
            let login = try await client.manager.login(provider.id, [.manual: .bool(true)])
            // Somebody has configured it meanwhile, and nobody wants this login. It has opened no browser.
            try await client.login(login).cancel()
            return nil
        } catch let error as BusError {
            guard case .reply(let reply) = error, error.isReply(.notConfigured) else { return nil }
            return CommandFailure.sentence(reply.message)
        } catch {
            return nil
        }
    }
}

extension String {
    /// The text without white space around it, which comes along when something is pasted.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
