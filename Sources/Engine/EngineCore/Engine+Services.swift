internal import EngineModel
internal import OAuth
internal import ProviderKit
internal import Services

/// The photos of accounts: credentials, client and session.
extension Engine {
    /// Creates the photos of an account that is logged in.
    func openPhotos(of account: Account) -> any AccountPhotos {
        let provider = account.provider
        if let folder = provider.folder {
            return FolderPhotos(folder.openFolder(account.identity), owner: account)
        }
        let settings = ports.settings(provider.info.id)
        let server = account.identity.server
        let method = provider.loginMethod
        // With invalid settings or an invalid server, the session reports that, and no request has a token or key.
        let access = try? method.access(settings, server: server)
        let isKey = if case .key = method { true } else { false }
        // The secret that the token endpoint may need.
        let clientKey: SecretKey? =
            switch method {
            case .oauth: .provider(provider.info.id)
            case .federated: .server(server, of: provider.info.id)
            case .none, .key, .polling: nil
            }
        let credentials = Credentials(
            account.id, label: provider.secretLabel(for: account.identity), ports.secrets,
            clientKey: clientKey,
            isNeeded: isKey ? access?.keyField != nil : Self.mayHaveSecret(provider),
            now: ports.now,
            // The provider is not captured: it may hold the session, and with it the credentials.
            // An OAuth token contains its client, which is needed if the provider is no longer installed.
            revoke: { [weak self, weak account] token, endpoint in
                guard let account else { return }
                self?.revoke(
                    token, of: account.provider, at: account.identity.server,
                    user: account.identity, with: endpoint)
            }
        ) { [weak self, weak account, usesOAuth = method.usesOAuth] token in
            guard let self, let account else { throw CancellationError() }
            guard usesOAuth else { throw OAuthError.noRefreshToken }
            return try await tokenEndpoint(for: token, account.provider, settings)
        }
        let client = AuthorizedClient(ports.http, credentials, access ?? KeyDescription(nil))
        let session = provider.makeSession(
            account.identity,
            SessionPorts(http: client, settings: settings, logger: ports.logger))
        // Accounts without a host and without OAuth do not share rate limits with other accounts.
        let host =
            client.origins.sorted().first
            ?? (method.usesOAuth ? provider.info.id : account.id.text)
        let service = RemoteService(
            account.id, session, credentials, stores, store.likes(of: account.id),
            // A plugin may name any host and report any result, so providers share no probes.
            probeTarget: "\(provider.info.id) \(host)", allowsLoopback: client.allowsLoopback,
            showsLocation: settings["ShowLocation"] == "true",
            isWatched: { [weak account] in account?.feedWatch.isWatched($0) == true },
            isMetered: { [weak self] in self?.isMetered ?? false }
        ) { [weak account] report in account?.handle(report) }
        rememberDefaultSource(of: provider.info)
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
}
