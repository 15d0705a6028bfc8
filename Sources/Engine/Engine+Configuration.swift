internal import OAuth
package import ProviderKit

/// What providers have to be told before they can be logged in to.
extension Engine {
    /// Whether a provider can be logged in to as it is.
    package func isConfigured(_ provider: any Provider) -> Bool {
        // First: a cast that fails makes the runtime search all conformances.
        guard provider.info.authentication == .oauth2, provider is any OAuthLogin else {
            return true
        }
        return ports.settings.settings(of: provider.info.id)["ClientId"] != nil
    }

    /// What is to be registered with a provider's service as the address to come back to; empty where there
    /// is nothing to register.
    package func redirectAddress(of provider: any Provider) -> String {
        guard provider.info.authentication == .oauth2, let provider = provider as? any OAuthLogin,
            let description = try? provider.oauth(ports.settings.settings(of: provider.info.id))
        else { return "" }
        return RedirectListeners.address(port: description.redirectPort)
    }

    /// Sets what is given, and leaves the rest. The secret goes to the secret store, which may prompt.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for a provider without settings,
    ///   ``EngineError/invalidArgument(_:)``, ``SecretStoreError``, what the disk says.
    package func configure(
        _ provider: any Provider, clientID: String?, clientSecret: Secret?
    ) async throws {
        let info = provider.info
        guard provider is any OAuthLogin else {
            throw EngineError.notSupported("\(info.name) has nothing to configure.")
        }
        if let clientID {
            guard (1...256).contains(clientID.utf8.count),
                clientID.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
            else {
                throw EngineError.invalidArgument(
                    "A client id has 1 to 256 characters, and no blank among them.")
            }
        }
        if let clientSecret {
            guard !clientSecret.isEmpty else {
                throw EngineError.invalidArgument("The client secret is empty.")
            }
            try await ports.secrets.unlock()
            try await ports.secrets.store(
                clientSecret, for: .provider(info.id), label: "Image Feed: \(info.name)")
        }
        if let clientID {
            try await ports.settings.set(clientID, for: "ClientId", of: info.id)
        }
        settingsChanged()
        tryAgain()
    }
}
