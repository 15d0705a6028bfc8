internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit
internal import Quoting
internal import SlideshowCore

/// The object paths of accounts, logins, transfers, slideshows and providers.
extension Account {
    var path: ObjectPath { ServiceName.accounts.appending(id.text) }
}

extension Engine {
    /// Returns the account with an object path.
    ///
    /// - Throws: ``EngineError/notFound(_:)``.
    func account(at path: ObjectPath) throws -> Account {
        guard let account = accounts.all.first(where: { $0.path == path }) else {
            throw EngineError.notFound("There is no account \(path.text.excerpt).")
        }
        return account
    }
}

extension Login {
    var path: ObjectPath { ServiceName.logins.appending("\(number)") }
}

extension Transfer {
    var path: ObjectPath { ServiceName.transfers.appending("\(number)") }
}

extension Slideshow {
    var path: ObjectPath {
        name.isEmpty ? ServiceName.slideshow : ServiceName.slideshow.appending(name)
    }
}

nonisolated extension ProviderInfo {
    var path: ObjectPath { ServiceName.providers.appending(id) }
}

extension BusInterface {
    /// Declares an interface of the contract. It also has the constant property that contains its version.
    ///
    /// - Parameters:
    ///   - name: A name in ``ServiceName``'s file, which also lists the versions.
    ///   - members: The other members, in the order in which introspection shows them.
    init(versioned name: InterfaceName, _ members: [BusMember<Object>]) {
        let version = name.version
        var members = members
        members.append(.property(name.versionProperty, isConstant: true) { _ in version })
        self.init(name, members)
    }
}
