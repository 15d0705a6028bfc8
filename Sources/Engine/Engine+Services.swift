internal import OAuth
internal import ProviderKit

/// The photos of accounts: credentials, client and session.
extension Engine {
    /// Creates the photos of an account that is logged in, and the credentials of those at a service.
    func openPhotos(of account: Account) -> (any AccountPhotos, Credentials?) {
        let provider = account.provider
        if let folder = provider.folder {
            return (FolderPhotos(folder.openFolder(account.identity), owner: account), nil)
        }
        let service = makeService(for: account)
        return (service, service.credentials)
    }

    private func makeService(for account: Account) -> RemoteService {
        let provider = account.provider
        let settings = ports.settings.settings(of: provider.info.id)
        guard Self.isRemote(provider) else {
            return makeKeyService(for: account, settings)
        }
        // If the settings are invalid, the session reports that, and requests have no token.
        let description = description(of: account)
        let server = account.identity.server
        let credentials = Credentials(
            account.id, label: provider.secretLabel(for: account.identity), ports.secrets,
            clientKeys: clientKeys(of: account), registersItself: provider.loginMethod.isFederated,
            now: ports.now,
            // The provider is not captured: it may hold the session, and with it the credentials.
            currentClient: { [weak self, weak account] in
                guard let self, let account else { return nil }
                return await currentClient(at: server, account.provider, settings)
            },
            revoke: { [weak self, weak account] token, endpoint in
                guard let account else { return }
                self?.revoke(token, of: account, with: endpoint)
            }
        ) { [weak self, weak account] token in
            guard let self, let account else { throw CancellationError() }
            return try await tokenEndpoint(for: token, at: server, account.provider, settings)
        }
        let client = AuthorizedClient(ports.http, credentials, description)
        return makeService(
            for: account, credentials, client, settings,
            host: client.origins.sorted().first ?? provider.info.id)
    }

    private func makeService(
        for account: Account, _ credentials: Credentials, _ client: AuthorizedClient,
        _ settings: ProviderSettings, host: String
    ) -> RemoteService {
        let session = account.provider.makeSession(
            account.identity,
            SessionPorts(http: client, settings: settings, logger: ports.logger))
        let service = RemoteService(
            account.id, session, credentials, ports, stores,
            probeTarget: HostProbes.Target(provider: account.provider.info.id, host: host),
            allowsLoopback: client.allowsLoopback, owner: account)
        rememberDefaultSource(of: account.provider.info)
        if let reason = recipientsProblem(of: account) { credentials.requireLogin(reason) }
        onRemoteSession?()
        return service
    }

    /// Stores the default source of a provider if it changed, so that its accounts still show it without the provider.
    private func rememberDefaultSource(of info: ProviderInfo) {
        let source = info.defaultSource
        guard !source.text.isEmpty, defaultSources[info.id] != source else { return }
        defaultSources[info.id] = source
        // If this fails, an account without its provider has no default source.
        Task { [store] in try? await store.saveDefaultSource(source, of: info.id) }
    }

    /// Creates the service of an account without OAuth.
    private func makeKeyService(
        for account: Account, _ settings: ProviderSettings
    ) -> RemoteService {
        let provider = account.provider
        var description = KeyDescription(keyField: nil, keyOrigins: [])
        if case .key(let provider) = provider.loginMethod {
            // With an invalid server, no request has a key.
            description =
                (try? provider.access(settings, server: account.identity.server)) ?? description
        } else if case .polling(let provider) = provider.loginMethod {
            description =
                (try? provider.access(settings, server: account.identity.server))
                ?? KeyDescription(keyField: KeyDescription.basicField, keyOrigins: [])
        }
        // An account whose provider is no longer installed may have a token.
        let isNeeded = description.keyField != nil || provider is UnusableProvider
        let credentials = Credentials(
            account.id, label: provider.secretLabel(for: account.identity), ports.secrets,
            isNeeded: isNeeded, now: ports.now,
            // An OAuth token contains its client, which is needed if the provider is no longer installed.
            revoke: { [weak self, weak account] token, endpoint in
                guard let account else { return }
                self?.revoke(token, of: account, with: endpoint)
            }
        ) { _ in throw OAuthError.noRefreshToken }
        let client = AuthorizedClient(ports.http, credentials, description)
        // Accounts without a host do not share rate limits with other accounts.
        return makeService(
            for: account, credentials, client, settings,
            host: client.origins.first ?? account.id.text)
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
        guard provider.info.authentication == .oauth2 else { return false }
        return switch provider.loginMethod {
        case .oauth, .federated: true
        case .none, .key, .polling: false
        }
    }
}
