internal import Logging
internal import OAuth
internal import ProviderKit
internal import Services
internal import System

/// The registrations of this application at the servers of federated services.
final class ClientRegistrations {
    /// The registration requests. Concurrent logins at one server share one registration.
    private let requests = SingleFlight<SecretKey, RegisteredClient>(cancelsAbandoned: true)
    /// The registrations that no successful login has used yet. They are stored with the first token.
    private var new: [SecretKey: RegisteredClient] = [:]
    private unowned let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    /// Returns the registration at a server: the stored one, unless the server rejects it or requires other
    /// properties now; otherwise a new one.
    func client(
        at server: DiscoveredServer, _ provider: any FederatedLogin
    ) async throws -> RegisteredClient {
        let key = SecretKey.server(server.name, of: provider.info.id)
        return try await requests.run(key) { [self, ports = engine.ports] in
            var known = new[key]
            if known == nil {
                known = try await ports.secrets.lookUp(key).flatMap {
                    RegisteredClient(encoded: $0)
                }
            }
            if var client = known, client.description.isRegistered(like: server.oauth),
                server.oauth.registration?.isForOneLogin != true
            {
                client.description = server.oauth
                if try await TokenEndpoint(client, ports.http).knowsClient() { return client }
            }
            // No client is registered for a login that timed out or was cancelled.
            try Task.checkCancellation()
            let client = try await RegisteredClient.register(
                server.oauth, ports.http, now: ports.now())
            // The registration is stored when a login succeeds: a failed login leaves no data.
            new[key] = client
            return client
        }
    }

    /// Stores the registration of a login that succeeded, if it is new.
    ///
    /// Best effort: the token contains a copy, and only the next login registers again.
    func store(at server: String, _ provider: any Provider) async {
        let key = SecretKey.server(server, of: provider.info.id)
        guard let client = new[key] else { return }
        do {
            try await engine.ports.secrets.store(
                client.encoded, for: key, label: "Image Feed: the application at \(server)")
            new[key] = nil
        } catch {
            engine.ports.logger.notice(
                "The client registration cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Deletes the registration at a server that no account uses any longer. Best effort: without a keyring, the
    /// registration remains.
    func deleteIfUnused(by removed: Account) async {
        let (provider, server) = (removed.provider.info, removed.identity.server)
        // A provider that is no longer installed may have been a federated one.
        guard removed.provider.loginMethod.isFederated || removed.provider is UnusableProvider,
            !server.isEmpty,
            !engine.accounts.all.contains(where: {
                $0.provider.info.id == provider.id && $0.identity.server == server
            })
        else { return }
        let key = SecretKey.server(server, of: provider.id)
        new[key] = nil
        do {
            try await engine.ports.secrets.delete(key)
        } catch {
            engine.ports.logger.notice(
                "The client registration cannot be deleted", metadata: ["error": "\(error)"])
        }
    }
}
