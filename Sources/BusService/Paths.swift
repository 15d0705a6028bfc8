internal import Contract
internal import DBus
internal import Engine
internal import ProviderKit

/// The object paths of accounts, logins, transfers, slideshows and providers.
extension Account {
    var path: ObjectPath { ServiceName.accounts.appending(id.text) }
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
