internal import Accounts
internal import OAuth
internal import ProviderKit
internal import Services

/// The photos of accounts: credentials, client and session.
extension Engine {
    /// Creates the photos of an account that is logged in, and the credentials of those at a service.
    func openPhotos(of account: Account) -> (any AccountPhotos, Credentials?) {
        let provider = account.provider
        if let folder = provider.folder {
            return (FolderPhotos(folder.openFolder(account.identity), owner: account), nil)
        }
        let settings = ports.settings.settings(of: provider.info.id)
        let server = account.identity.server
        // With invalid settings or an invalid server, the session reports that, and no request has a token or key.
        let access = Self.isRemote(provider) ? nil : keyAccess(to: server, provider, settings)
        let credentials = Credentials(
            account.id, label: provider.secretLabel(for: account.identity), ports.secrets,
            clientKeys: access == nil ? clientKeys(of: account) : [],
            registersItself: access == nil && provider.loginMethod.isFederated,
            // An account whose provider is no longer installed may have a token.
            isNeeded: access?.keyField != nil || access == nil || provider is UnusableProvider,
            now: ports.now,
            // The provider is not captured: it may hold the session, and with it the credentials.
            // An OAuth token contains its client, which is needed if the provider is no longer installed.
            revoke: { [weak self, weak account] token, endpoint in
                guard let account else { return }
                self?.revoke(
                    token, of: account.provider, at: account.identity.server,
                    user: account.identity, with: endpoint)
            }
        ) { [weak self, weak account, isKey = access != nil] token in
            guard let self, let account else { throw CancellationError() }
            guard !isKey else { throw OAuthError.noRefreshToken }
            return try await tokenEndpoint(for: token, at: server, account.provider, settings)
        }
        let client =
            if let access { AuthorizedClient(ports.http, credentials, access) } else {
                AuthorizedClient(ports.http, credentials, description(of: account))
            }
        let session = provider.makeSession(
            account.identity,
            SessionPorts(http: client, settings: settings, logger: ports.logger))
        // Accounts without a host and without OAuth do not share rate limits with other accounts.
        let host =
            client.origins.sorted().first ?? (access == nil ? provider.info.id : account.id.text)
        let service = RemoteService(
            account.id, session, credentials, stores, store.likes(of: account.id),
            provider: provider.info.id, host: host, allowsLoopback: client.allowsLoopback,
            isWatched: { [weak account] in account?.feedWatch.isWatched($0) == true },
            isMetered: { [weak self] in self?.isMetered ?? false }
        ) { [weak account] report in account?.handle(report) }
        rememberDefaultSource(of: provider.info)
        if let reason = recipientsProblem(of: account) { credentials.requireLogin(reason) }
        onRemoteSession?()
        return (service, credentials)
    }

    /// Stores the default source of a provider if it changed, so that its accounts still show it without the provider.
    private func rememberDefaultSource(of info: ProviderInfo) {
        let source = info.defaultSource
        guard !source.text.isEmpty, defaultSources[info.id] != source else { return }
        defaultSources[info.id] = source
        // If this fails, an account without its provider has no default source.
        Task { [store] in try? await store.saveDefaultSource(source, of: info.id) }
    }

    /// Returns the key of an account without OAuth, and the hosts that receive it.
    private func keyAccess(
        to server: String, _ provider: any Provider, _ settings: ProviderSettings
    ) -> KeyDescription {
        switch provider.loginMethod {
        case .key(let provider):
            if let access = try? provider.access(settings, server: server) { return access }
        case .polling(let provider):
            return (try? provider.access(settings, server: server))
                ?? KeyDescription(keyField: KeyDescription.basicField, keyOrigins: [])
        case .none, .oauth, .federated: break
        }
        return KeyDescription(keyField: nil, keyOrigins: [])
    }

    /// The keys of the secrets that the token endpoint of an account may need.
    func clientKeys(of account: Account) -> [SecretKey] {
        let id = account.provider.info.id
        return account.provider.loginMethod.oauth != nil
            ? [.provider(id)] : [.server(account.identity.server, of: id)]
    }

    /// Returns the OAuth description of an account's service; nil without a token, or with invalid settings.
    func description(of account: Account) -> OAuthDescription? {
        let settings = ports.settings.settings(of: account.provider.info.id)
        return switch account.provider.loginMethod {
        case .oauth(let provider): try? provider.oauth(settings)
        case .federated(let provider): try? provider.oauth(account.identity.server, settings)
        case .none, .key, .polling: nil
        }
    }

    /// True if accounts of the provider have an OAuth token.
    static func isRemote(_ provider: any Provider) -> Bool {
        let method = provider.loginMethod
        return provider.info.authentication == .oauth2
            && (method.oauth != nil || method.isFederated)
    }
}
