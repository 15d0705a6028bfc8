internal import BusAPI
internal import DBus
internal import ProviderKit

/// An account or the combined account, as last announced by the daemon.
struct Account: Equatable {
    let path: ObjectPath
    private let interfaces: [String: [String: Variant]]

    init(_ path: ObjectPath, _ interfaces: [String: [String: Variant]]) {
        self.path = path
        self.interfaces = interfaces
    }

    private func value(_ interface: InterfaceName, _ name: String) -> Variant? {
        interfaces[interface.text]?[name]
    }
    private func text(_ interface: InterfaceName, _ name: String) -> String {
        value(interface, name)?.string ?? ""
    }

    var isCombined: Bool { path == ServiceName.combined }
    var id: String { text(.account, "Id") }
    var provider: ObjectPath? { value(.account, "Provider")?.objectPath }
    var username: String { text(.account, "Username") }
    var server: String { text(.account, "Server") }
    var label: String {
        if isCombined { return "All photos" }
        let label = text(.account, "Label")
        return label.isEmpty ? (username.isEmpty ? id : username) : label
    }
    var state: String { text(.account, "State") }
    var stateReason: String { text(.account, "StateReason") }
    var remedy: Remedy? { Remedy(rawValue: text(.account, "Remedy")) }
    /// True if the account has photos.
    var hasFeed: Bool { interfaces[InterfaceName.feed.text] != nil }
    var defaultSource: String { text(.feed, "DefaultSource") }
    var likeCount: UInt32 { value(.like, "Count")?.uint32 ?? 0 }
    var pendingLikes: [String] { value(.like, "Pending")?.strings ?? [] }

    var name: String {
        let name = text(.profile, "Name")
        return name.isEmpty ? label : name
    }
    var bio: String { text(.profile, "Bio") }
    var location: String { text(.profile, "Location") }
    var url: String { text(.profile, "Url") }
    /// The path of the avatar; empty if there is none.
    var avatar: String { text(.profile, "Avatar") }

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
