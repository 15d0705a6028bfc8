package import DBus
package import ProviderKit

/// An account or the combined account, as last announced by the daemon.
package struct AccountProperties: Equatable {
    package let path: ObjectPath
    /// The properties by the names of their interfaces.
    let interfaces: [String: [String: Variant]]

    /// Returns the properties of an interface; nil if the account does not have it.
    package func properties(_ interface: InterfaceName) -> [String: Variant]? {
        interfaces[interface.text]
    }
    package subscript(_ interface: InterfaceName, _ name: MemberName) -> Variant? {
        interfaces[interface.text]?[name.text]
    }
    private func text(_ interface: InterfaceName, _ name: MemberName) -> String {
        self[interface, name]?.string ?? ""
    }

    package var isCombined: Bool { path == ServiceName.combined }
    package var id: String { self[.account, .id]?.string ?? path.lastElement }
    package var provider: ObjectPath? { self[.account, .provider]?.objectPath }
    package var username: String { text(.account, .username) }
    package var server: String { text(.account, .server) }
    /// The label; without one, the user name or the ID.
    package var label: String {
        let label = text(.account, .label)
        return label.isEmpty ? (username.isEmpty ? id : username) : label
    }
    /// The state; nil for a state of a newer daemon.
    package var state: AccountStateName? { AccountStateName(rawValue: stateText) }
    package var stateText: String { text(.account, .state) }
    /// The state in the language of the user.
    package var stateWord: String { state?.word ?? stateText }
    package var stateReason: String { text(.account, .stateReason) }
    /// The user's remedy for the state; nil if there is none.
    package var remedy: Remedy? { Remedy(rawValue: text(.account, .remedy)) }
    /// Sentences about photos, sources and likes that the account cannot have at the service.
    package var notices: [String] { self[.account, .notices]?.strings ?? [] }

    /// True if the account has photos, as only an account that is logged in.
    package var isLoggedIn: Bool { properties(.feed) != nil }
    package var defaultSource: String { text(.feed, .defaultSource) }
    package var hasLikes: Bool { properties(.like) != nil }
    package var likeCount: UInt32 { self[.like, .count]?.uint32 ?? 0 }
    package var pendingLikes: [String] { self[.like, .pending]?.strings ?? [] }

    /// The user's full name; empty if it is unknown.
    package var name: String { text(.profile, .name) }
    package var bio: String { text(.profile, .bio) }
    package var location: String { text(.profile, .location) }
    package var url: String { text(.profile, .url) }
    /// The path of the avatar; empty if there is none.
    package var avatar: String { text(.profile, .avatar) }
}

extension ObjectPath {
    /// The last element, which is the ID of an object of the contract; empty for the root.
    package var lastElement: String { text.split(separator: "/").last.map(String.init) ?? "" }
}
