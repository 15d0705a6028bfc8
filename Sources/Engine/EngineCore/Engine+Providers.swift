internal import EngineModel
internal import OAuth
package import ProviderKit
internal import Services
internal import Translation

/// The configuration of providers.
extension Engine {
    /// Returns true if users can log in with a provider in its present configuration.
    package func isConfigured(_ provider: any Provider) -> Bool {
        guard provider.loginMethod.oauth != nil else { return true }
        return ports.settings(provider.info.id)["ClientId"] != nil
    }

    /// Returns the redirect URI to register with a provider's service; empty if the service requires none.
    package func redirectAddress(of provider: any Provider) -> String {
        guard let provider = provider.loginMethod.oauth,
            let description = try? provider.oauth(ports.settings(provider.info.id))
        else { return "" }
        return RedirectListeners.address(port: description.redirectPort)
    }

    /// Stores the given values and leaves the others unchanged. The secret is stored in the secret store, which may
    /// prompt.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for a provider without settings,
    ///   ``EngineError/invalidArgument(_:)``, ``SecretStoreError``, or the error of the settings store.
    package func configure(
        _ provider: any Provider, clientID: String?, clientSecret: Secret?
    ) async throws {
        let info = provider.info
        guard provider.loginMethod.oauth != nil else {
            throw EngineError.notSupported(
                Message("{provider} has no settings.", ["provider": info.name]))
        }
        if let clientID {
            guard (1...256).contains(clientID.utf8.count),
                clientID.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
            else {
                throw EngineError.invalidArgument(
                    "A client ID has 1 to 256 printable ASCII characters and no spaces.")
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
            try await ports.setClientID(clientID, info.id)
        }
        settingsChanged()
        retryNow()
    }
}

/// Providers that are installed and removed while the engine runs.
extension Engine {
    /// Adds a provider, or replaces another version of it. The sessions of its accounts are restarted.
    package func install(_ provider: any InstalledProvider) {
        let id = provider.info.id
        knownSettings[id] = ports.settings(id)
        let known = providers.firstIndex { $0.info.id == id }
        if let known {
            providers[known] = provider
            emit(.providerRemoved(id))
        } else {
            providers.append(provider)
        }
        emit(.providerAdded(provider))
        change(accountsOf: id, to: provider)
        guard known != nil else { return }
        // Another version may offer likes.
        for account in accounts.all where account.provider.info.id == id {
            account.service?.checkLikesAgain()
        }
    }

    /// Removes a provider. Its accounts remain known, show their cached photos, and report the reason in their state.
    package func uninstall(_ id: String) {
        guard let index = providers.firstIndex(where: { $0.info.id == id }) else { return }
        let provider = providers.remove(at: index)
        emit(.providerRemoved(id))
        change(
            accountsOf: id,
            to: UnusableProvider(provider.info, reason: Self.missingReason(provider.info.name)))
    }

    /// Announces that the condition of a provider changed.
    package func providerConditionChanged(_ provider: any InstalledProvider) {
        emit(.providerChanged(provider))
    }

    private func change(accountsOf id: String, to provider: any Provider) {
        for account in accounts.all where account.provider.info.id == id {
            account.change(to: provider)
            account.announceSession()
        }
    }

    /// Returns a placeholder for a provider that is not installed or is disabled.
    static func missing(_ id: String) -> any Provider {
        UnusableProvider(id: id, name: id, reason: missingReason(id))
    }

    private static func missingReason(_ name: String) -> Message {
        Message(
            "The provider “{provider}” is no longer installed or is disabled.", ["provider": name])
    }
}
