internal import OAuth
internal import ProviderKit

/// Logins with a key that the service gave to the user, or without any secret.
extension LoginList {
    func start(_ provider: any KeyLogin, _ options: LoginOptions) throws -> Login {
        let info = provider.info
        guard !options.registers else {
            throw EngineError.notSupported("\(info.name) cannot register new users here.")
        }
        let settings = ports.settings.settings(of: info.id)
        let server = options.server?.lowercased() ?? options.account?.identity.server ?? ""
        let description = try provider.access(settings, server: server)
        guard description.needsServer != server.isEmpty else {
            throw description.needsServer
                ? EngineError.serverMissing(provider)
                : EngineError.notSupported(
                    "\(info.name) has only one server; log in without a server name.")
        }
        let takesKey = description.keyField != nil
        guard takesKey == (options.password != nil) else {
            throw takesKey
                ? EngineError.invalidArgument(
                    "\(info.name) requires a key; create one there and pass it as the password.")
                : EngineError.notSupported("\(info.name) uses no password; log in without one.")
        }
        let named = AccountIdentity(
            username: options.username ?? options.account?.identity.username ?? "",
            server: server)
        let login = add(provider, for: options.account, server: server, client: options.client)
        login.begin { [self] in
            let key = try await options.password?()
            guard key?.isCode ?? true else {
                throw EngineError.invalidArgument("The key is empty or contains spaces.")
            }
            // This is done before the request: if the user does not unlock the keyring, nothing is sent.
            if key != nil { try await unlockSecrets([]) }
            try login.proceed()
            let client = AuthorizedClient(
                ports.http, FixedToken(token: key ?? Secret("")), description)
            let identity: AccountIdentity
            do {
                identity = try await provider.identify(
                    named, SessionPorts(http: client, settings: settings, logger: ports.logger))
            } catch ProviderError.unauthorized {
                throw EngineError.loginFailed("\(info.name) does not accept the key.")
            }
            try login.check(identity)
            if key != nil { try await unlockToken(of: identity, provider) }
            return try await engine.completeLogin(
                identity, provider, as: login.expectedAccount,
                with: key.map { .key($0, now: ports.now()) }
            ) { !login.hasEnded }
        }
        return login
    }
}
