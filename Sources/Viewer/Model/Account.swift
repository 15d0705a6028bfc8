internal import Contract
internal import ProviderKit
internal import Translation

extension AccountProperties {
    /// The name of the user, or that of the account.
    var shownName: String { name.isEmpty ? label : name }

    /// The user name with the server.
    var identity: String {
        if server.isEmpty { return username }
        // An email address, or a server with its address.
        let isAddress = username.contains("@") || server.contains("/")
        if !isAddress { return "\(username)@\(server)" }
        return tr("{user} at {server}", ["user": username, "server": server])
    }
}

extension Remedy {
    /// The title of the button that starts the remedy.
    var title: String {
        switch self {
        case .login: tr("_Log in again")
        case .unlock: tr("_Unlock")
        case .configure: tr("_Set up")
        case .installKeyring, .freeSpace, .retry: tr("_Try again")
        }
    }
}
