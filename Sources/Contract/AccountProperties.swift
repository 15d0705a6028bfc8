package import DBus
package import ProviderKit

/// An account or the combined account, as last announced by the daemon.
package struct AccountProperties: Equatable {
    package let path: ObjectPath
    /// The properties by the names of their interfaces.
    private let interfaces: [String: [String: Variant]]

    package init(path: ObjectPath, interfaces: [String: [String: Variant]]) {
        self.path = path
        self.interfaces = interfaces
    }

    /// Returns the properties of an interface; nil if the account does not have it.
    package func properties(_ interface: InterfaceName) -> [String: Variant]? {
        interfaces[interface.text]
    }
    package subscript(_ interface: InterfaceName, _ name: String) -> Variant? {
        interfaces[interface.text]?[name]
    }
    private func text(_ interface: InterfaceName, _ name: String) -> String {
        self[interface, name]?.string ?? ""
    }

    package var isCombined: Bool { path == ServiceName.combined }
    package var id: String { self[.account, "Id"]?.string ?? path.lastElement }
    package var provider: ObjectPath? { self[.account, "Provider"]?.objectPath }
    package var username: String { text(.account, "Username") }
    package var server: String { text(.account, "Server") }
    /// The label; without one, the user name or the ID.
    package var label: String {
        let label = text(.account, "Label")
        return label.isEmpty ? (username.isEmpty ? id : username) : label
    }
    /// The state; nil for a state of a newer daemon.
    package var state: AccountStateName? { AccountStateName(rawValue: stateText) }
    package var stateText: String { text(.account, "State") }
    /// The state in the language of the user.
    package var stateWord: String { state?.word ?? stateText }
    package var stateReason: String { text(.account, "StateReason") }
    /// The user's remedy for the state; nil if there is none.
    package var remedy: Remedy? { Remedy(rawValue: text(.account, "Remedy")) }
    /// Sentences about photos, sources and likes that the account cannot have at the service.
    package var notices: [String] { self[.account, "Notices"]?.strings ?? [] }

    /// True if the account has photos, as only an account that is logged in.
    package var isLoggedIn: Bool { properties(.feed) != nil }
    package var defaultSource: String { text(.feed, "DefaultSource") }
    package var hasLikes: Bool { properties(.like) != nil }
    package var likeCount: UInt32 { self[.like, "Count"]?.uint32 ?? 0 }
    package var pendingLikes: [String] { self[.like, "Pending"]?.strings ?? [] }

    /// The user's full name; empty if it is unknown.
    package var name: String { text(.profile, "Name") }
    package var bio: String { text(.profile, "Bio") }
    package var location: String { text(.profile, "Location") }
    package var url: String { text(.profile, "Url") }
    /// The path of the avatar; empty if there is none.
    package var avatar: String { text(.profile, "Avatar") }
}

extension ObjectPath {
    /// The last element, which is the ID of an object of the contract; empty for the root.
    package var lastElement: String { text.split(separator: "/").last.map(String.init) ?? "" }
}
