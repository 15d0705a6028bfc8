package import ProviderKit
internal import Quoting
internal import Translation
internal import WebService

/// The provider of photos from Nextcloud servers. Each account names its server.
///
/// Source: the developer manual of Nextcloud (Login Flow v2, OCS, WebDAV) and the WebDAV interface of its app Photos.
package struct NextcloudProvider: PollingLogin {
    package let info = ProviderInfo(
        id: "nextcloud", name: "Nextcloud", iconName: "folder-remote", authentication: .oauth2,
        capabilities: [.feed, .like, .profile, .albums, .server, .memories],
        defaultSource: NextcloudKind.all.id)

    /// Creates the provider.
    package init() {}

    package func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String { try ServerAddress(text, keepsPath: true).name }

    package func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        let origin = try ServerAddress(server).origin
        var description = KeyDescription(
            keyField: KeyDescription.basicField, keyOrigins: [origin], needsServer: true)
        description.namedOrigins = [origin]
        description.refusals = Refusal.tokenExceptions.map { TokenRefusal(status: 401, text: $0) }
        return description
    }

    package func describeLogin(
        _ server: String, _ ports: SessionPorts
    ) async throws -> PollingDescription {
        let found = try await findServer(at: server, ports)
        var revocation = HTTPRequest(.delete, found.base + "/ocs/v2.php/core/apppassword")
        revocation.headers.append("OCS-APIRequest", "true")
        return PollingDescription(
            server: found.name, startURL: found.base + "/index.php/login/v2",
            revocation: revocation)
    }

    package func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        let client = try NextcloudClient(account, ports)
        return try await client.identity(at: client.server.name)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        NextcloudSession(account, ports)
    }

    // MARK: The path of a server

    /// The names with which the paths of a server's pages begin. The server is above them.
    private static let pages: Set<Substring> = [
        "index.php", "status.php", "remote.php", "public.php", "ocs", "apps", "login", "settings",
        "s", "f", "u",
    ]
    /// The maximum number of requests.
    private static let maximumRequests = 5

    /// Searches for the path of a server below the address that the user entered.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - ports: The ports for the requests.
    /// - Returns: The server.
    /// - Throws: ``ProviderError/notSupported(_:)`` if there is no server, ``ProviderError/failed(_:)`` during
    ///   maintenance; ``HTTPError``.
    private func findServer(at text: String, _ ports: SessionPorts) async throws -> ServerAddress {
        let address = try ServerAddress(text, keepsPath: true)
        let segments = address.path.split(separator: "/")
        var failure: ProviderError?
        let longest = segments.firstIndex { Self.pages.contains($0) } ?? segments.count
        for count in (0...longest).reversed().prefix(Self.maximumRequests) {
            let server = address.prefix(count)
            var request = HTTPRequest(.get, server.base + "/status.php")
            request.headers.append("Accept", "application/json")
            request.maximumBytes = 64 << 10
            let response = try await ports.http.send(request)
            let refusal = Refusal(
                response, .other(Message("read the status")), .server(server.host),
                now: ports.now())
            if response.isOtherLogin {
                failure = failure ?? refusal.page
                continue
            }
            if let error = refusal.generalError { throw error }
            // `status.php` needs no login.
            guard response.isSuccess, let status = response.record,
                let isInstalled: Bool = status.value("installed")
            else { continue }
            if let problem = refusal.problem(status) { throw problem }
            guard isInstalled else { break }
            return server
        }
        throw failure
            ?? ProviderError.notSupported(
                Message(
                    "There is no Nextcloud server at {server}; enter the address of its start page.",
                    ["server": address.host.excerpt]))
    }
}
