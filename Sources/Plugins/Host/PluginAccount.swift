internal import PluginProtocol
internal import ProviderKit
internal import Quoting

/// An account as a plugin knows it: by a name that lasts as long as its session.
nonisolated final class PluginAccount: Sendable {
    let id: String
    /// The id of the plugin.
    private let plugin: String
    let identity: AccountIdentity
    let ports: SessionPorts
    let hosts: AllowedHosts
    let events: AsyncStream<SessionEvent>.Continuation?

    init(
        id: String, plugin: String, _ identity: AccountIdentity, _ ports: SessionPorts,
        _ hosts: AllowedHosts,
        events: AsyncStream<SessionEvent>.Continuation? = nil
    ) {
        self.id = id
        self.plugin = plugin
        self.identity = identity
        self.ports = ports
        self.hosts = hosts
        self.events = events
    }

    /// The account in the parameters of a call.
    var json: JSONValue {
        [
            "id": .string(id), "username": .string(identity.username),
            "server": identity.server.isEmpty ? .null : .string(identity.server),
        ]
    }

    /// A request of the plugin's as it may be sent.
    ///
    /// - Parameters:
    ///   - request: What it wants to have asked.
    ///   - timeLimit: How long the answer may take.
    /// - Returns: The request, confined.
    /// - Throws: ``HTTPError/forbiddenAddress(_:)``, ``HTTPError/invalidAddress(_:)``.
    func confine(
        _ request: HTTPRequest, timeLimit: Duration? = nil
    ) throws -> HTTPRequest {
        guard let address = WebAddress(request.url) else {
            throw HTTPError.invalidAddress(
                "the plugin requests “\(request.url.excerpt)”, which is not an address of the web")
        }
        guard hosts.permits(address) else {
            throw HTTPError.forbiddenAddress(
                "\(address.origin) is none of the hosts of the plugin's manifest")
        }
        var request = request
        request.addressSource = hosts.source(of: address)
        request.allowedHosts = hosts
        request.plugin = plugin
        if let timeLimit { request.timeLimit = min(request.timeLimit, timeLimit) }
        return request
    }
}
