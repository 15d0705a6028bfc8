internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit
internal import Quoting
internal import Translation

/// An account in the messages to a plugin. Its ID is valid as long as its session.
nonisolated final class PluginAccount: Sendable {
    let id: String
    /// The ID of the plugin.
    private let plugin: String
    let identity: AccountIdentity
    let ports: SessionPorts
    let hosts: AllowedHosts
    let events: AsyncStream<SessionEvent>.Continuation?

    init(
        _ plugin: Plugin, _ identity: AccountIdentity, _ ports: SessionPorts,
        events: AsyncStream<SessionEvent>.Continuation? = nil
    ) {
        id = plugin.makeAccountID()
        self.plugin = plugin.manifest.info.id
        self.identity = identity
        self.ports = ports
        hosts = plugin.manifest.allowedHosts(server: identity.server)
        self.events = events
    }

    /// The account in the parameters of a call.
    var json: JSON {
        [
            "id": .string(id), "username": .string(identity.username),
            "server": identity.server.isEmpty ? .null : .string(identity.server),
        ]
    }

    /// Restricts a request of the plugin to the rules of its manifest.
    ///
    /// - Parameters:
    ///   - request: The request of the plugin.
    ///   - timeLimit: The time limit of the response.
    /// - Returns: The restricted request.
    /// - Throws: ``HTTPError/forbiddenAddress(_:)``, ``HTTPError/invalidAddress(_:)``; ``ProviderError/failed(_:)`` for
    ///   a header field that a plugin must not set, which is not a failure of the service.
    func confine(_ request: HTTPRequest, timeLimit: Duration? = nil) throws -> HTTPRequest {
        guard let address = WebAddress(request.url) else {
            throw HTTPError.invalidAddress(
                Message(
                    verbatim: "“\(request.url.excerpt)” is not an absolute http or https address"))
        }
        guard hosts.permits(address) else {
            throw HTTPError.forbiddenAddress(
                Message(
                    verbatim: "\(address.origin) is not in Hosts of the plugin's manifest"))
        }
        for field in request.headers.fields where !field.isAllowedInRequest {
            throw ProviderError.failed(
                Message(
                    verbatim:
                        "The plugin's request has the header field “\(field.name.excerpt)”, which is reserved or not valid; remove it."
                )
            )
        }
        var request = request
        request.addressSource = hosts.source(of: address)
        request.allowedHosts = hosts
        request.plugin = plugin
        if let timeLimit { request.timeLimit = min(request.timeLimit, timeLimit) }
        return request
    }
}

/// The client for the image addresses of the plugin, which applies the rules for the plugin's own requests.
nonisolated extension PluginAccount: HTTPClient {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await ports.http.send(try confine(request))
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await ports.http.download(try confine(request), into: file, progress: progress)
    }
}
