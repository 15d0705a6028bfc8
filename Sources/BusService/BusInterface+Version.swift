internal import Contract
internal import DBus

extension BusInterface {
    /// Declares an interface of the contract. It also has the constant property that contains its version.
    ///
    /// - Parameters:
    ///   - name: A name in ``ServiceName``'s file, which also lists the versions.
    ///   - members: The other members, in the order in which introspection shows them.
    init(versioned name: InterfaceName, _ members: [BusMember<Object>]) {
        let version = name.version
        var members = members
        members.append(.property(name.versionProperty, emits: .constant) { _ in version })
        self.init(name, members)
    }
}
