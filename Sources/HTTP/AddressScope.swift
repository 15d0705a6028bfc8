internal import ProviderKit

/// The addresses to which the connections of a request may lead.
///
/// Each scope has its own connections: a request for an address from a third party cannot use a connection that was
/// opened for the user in the local network under the same name.
nonisolated enum AddressScope: Hashable {
    case anywhere
    case publicOnly
    case publicOrLoopback
    /// An origin that the user named as a server: any address, also over `http`.
    case named

    init(_ source: HTTPRequest.AddressSource, allowsLoopback: Bool) {
        self =
            switch source {
            case .configuration: .anywhere
            case .service: allowsLoopback ? .publicOrLoopback : .publicOnly
            }
    }

    /// Returns true if a connection to an address is permitted.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - scheme: The scheme of the request. `http` is permitted on loopback, and to an origin that the user named.
    ///   - isResolved: True if the address was resolved from a host name, false if the request contains it. A resolved
    ///     address may be the placeholder of a tunnel.
    /// - Returns: True if the connection is permitted.
    func permits(_ address: IPAddress, _ scheme: WebAddress.Scheme, isResolved: Bool) -> Bool {
        if scheme == .http && !address.isLoopback && self != .named { return false }
        let isPublic = address.isPublic || isResolved && address.isPlaceholder
        return switch self {
        case .anywhere, .named: true
        case .publicOnly: isPublic
        case .publicOrLoopback: isPublic || address.isLoopback
        }
    }
}
