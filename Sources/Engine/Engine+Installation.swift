package import ProviderKit

/// Providers that come and go while the engine runs.
extension Engine {
    /// Adds a provider, or puts another version of it in the place of the one that is there. Its accounts go on
    /// with it.
    package func install(_ provider: any InstalledProvider) {
        let id = provider.info.id
        if let index = providers.firstIndex(where: { $0.info.id == id }) {
            providers[index] = provider
            observer?.providerRemoved(id)
        } else {
            providers.append(provider)
        }
        observer?.providerAdded(provider)
        change(accountsOf: id, to: provider)
    }

    /// Takes a provider away. Its accounts stay known, show what they have shown, and say why there is nothing new.
    package func uninstall(_ id: String) {
        guard let index = providers.firstIndex(where: { $0.info.id == id }) else { return }
        let provider = providers.remove(at: index)
        observer?.providerRemoved(id)
        change(
            accountsOf: id,
            to: UnusableProvider(provider.info, reason: Self.goneReason(provider.info.name)))
    }

    /// Tells that a provider is doing otherwise than before.
    package func noteCondition(of provider: any InstalledProvider) {
        observer?.providerChanged(provider)
    }

    private func change(accountsOf id: String, to provider: any Provider) {
        for account in accounts where account.provider.info.id == id {
            account.change(to: provider)
            observer?.accountChanged(account, .session)
        }
    }

    /// What there is of a provider that is not installed, or switched off.
    static func missing(_ id: String) -> any Provider {
        UnusableProvider(id: id, name: id, reason: goneReason(id))
    }

    private static func goneReason(_ name: String) -> String {
        "The provider “\(name)” is not installed any more, or switched off."
    }
}
