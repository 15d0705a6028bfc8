package import ProviderKit

/// Providers that are installed and removed while the engine runs.
extension Engine {
    /// Adds a provider, or replaces another version of it. The sessions of its accounts are restarted.
    package func install(_ provider: any InstalledProvider) {
        let id = provider.info.id
        let isReplaced = providers.contains { $0.info.id == id }
        if let index = providers.firstIndex(where: { $0.info.id == id }) {
            providers[index] = provider
            emit(.providerRemoved(id))
        } else {
            providers.append(provider)
        }
        emit(.providerAdded(provider))
        change(accountsOf: id, to: provider)
        guard isReplaced else { return }
        // Another version may offer likes.
        for account in accounts.all where account.provider.info.id == id {
            account.photos?.checkLikesAgain()
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
            emit(.changed(.session), of: account)
        }
    }

    /// Returns a placeholder for a provider that is not installed or is disabled.
    static func missing(_ id: String) -> any Provider {
        UnusableProvider(id: id, name: id, reason: missingReason(id))
    }

    private static func missingReason(_ name: String) -> String {
        "The provider “\(name)” is no longer installed or is disabled."
    }
}
