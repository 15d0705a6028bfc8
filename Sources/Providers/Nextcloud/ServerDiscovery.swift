internal import ProviderKit
internal import Quoting
internal import WebService

/// The search for the path of a server below the address that the user entered.
struct ServerDiscovery {
    let ports: SessionPorts
    let now: @Sendable () -> Timestamp

    /// The names with which the paths of a server's pages begin. The server is above them.
    private static let pages: Set<Substring> = [
        "index.php", "status.php", "remote.php", "public.php", "ocs", "apps", "login", "settings",
        "s", "f", "u",
    ]
    /// The maximum number of requests.
    private static let maximumRequests = 5

    /// Returns the server at an address, or at a path above it.
    ///
    /// - Parameter text: The address.
    /// - Returns: The server.
    /// - Throws: ``ProviderError/notSupported(_:)`` if there is no server, ``ProviderError/failed(_:)`` during
    ///   maintenance; ``HTTPError``.
    func server(at text: String) async throws -> ServerAddress {
        let address = try ServerAddress(text, keepsPath: true)
        let segments = address.path.split(separator: "/")
        let longest = segments.firstIndex { Self.pages.contains($0) } ?? segments.count
        for count in (0...longest).reversed().prefix(Self.maximumRequests) {
            let server = address.prefix(count)
            var request = HTTPRequest(.get, server.base + "/status.php")
            request.headers.append("Accept", "application/json")
            request.maximumBytes = 64 << 10
            let response = try await ports.http.send(request)
            let refusal = Refusal(
                response, .other("read the status"), .server(server.host), now: now())
            if let error = refusal.generalError { throw error }
            // `status.php` needs no login.
            guard response.isSuccess, let status = response.record,
                let isInstalled: Bool = status.value("installed")
            else { continue }
            guard status.flag("maintenance") != true else { throw refusal.maintenance }
            guard isInstalled else { break }
            return server
        }
        throw ProviderError.notSupported(
            "There is no Nextcloud server at \(address.host.excerpt); enter the address of its start page."
        )
    }
}
