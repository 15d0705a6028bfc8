internal import Contract
internal import ProviderKit

extension AccountProperties {
    /// The name of the user, or that of the account.
    var shownName: String { name.isEmpty ? label : name }

    /// The user name with the server.
    var identity: String {
        if server.isEmpty { return username }
        // An email address, or a server with its address.
        let isAddress = username.contains("@") || server.contains("/")
        return isAddress ? "\(username) at \(server)" : "\(username)@\(server)"
    }
}

extension Remedy {
    /// The title of the button that starts the remedy.
    var title: String {
        switch self {
        case .login: "_Log in again"
        case .unlock: "_Unlock"
        case .configure: "_Set up"
        case .installKeyring, .freeSpace, .retry: "_Try again"
        }
    }
}
