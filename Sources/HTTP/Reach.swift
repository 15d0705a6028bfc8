internal import ProviderKit

/// How far the connections of a request may reach.
///
/// Connections are kept apart by it: one into the user's own network, opened for the user, is not there for
/// what a stranger names by the same name.
nonisolated enum Reach: Hashable {
    case anywhere
    case publicOnly
    case publicOrLoopback

    init(_ source: HTTPRequest.AddressSource, allowsLoopback: Bool) {
        self =
            switch source {
            case .configuration: .anywhere
            case .stranger: allowsLoopback ? .publicOrLoopback : .publicOnly
            }
    }

    /// Whether a connection may lead there.
    func permits(_ address: IPAddress, _ scheme: WebAddress.Scheme) -> Bool {
        // Nobody listens in on the way to oneself alone.
        if scheme == .http && !address.isLoopback { return false }
        return switch self {
        case .anywhere: true
        case .publicOnly: address.isPublic
        case .publicOrLoopback: address.isPublic || address.isLoopback
        }
    }
}
