internal import BusAPI
internal import DBus

/// What the daemon told of itself at one moment.
struct ServiceSnapshot {
    let manager: [String: Variant]
    /// By their ids.
    let providers: [ProviderRecord]
    /// By their ids.
    let accounts: [AccountRecord]

    /// - Parameters:
    ///   - manager: The properties of the manager.
    ///   - objects: The objects below the root, with their interfaces and properties.
    init(
        manager: [String: Variant], objects: [ObjectPath: [String: [String: Variant]]]
    ) {
        self.manager = manager
        let sorted = objects.sorted { $0.key.text < $1.key.text }
        providers = sorted.compactMap { ProviderRecord(path: $0.key, interfaces: $0.value) }
        accounts = sorted.compactMap { AccountRecord(path: $0.key, interfaces: $0.value) }
    }

    var version: String { manager["Version"]?.string ?? "" }
    var isOnline: Bool { manager["Online"]?.bool ?? false }
    /// The limits of the daemon's systemd unit that are not in force.
    var missingLimits: [String] { manager["MissingLimits"]?.strings ?? [] }
    /// nil when no account is logged in.
    var defaultAccount: ObjectPath? {
        manager["DefaultAccount"]?.objectPath.flatMap { $0 == .root ? nil : $0 }
    }

    /// The name that a person knows the provider of `account` by.
    func providerName(of account: AccountRecord) -> String {
        providers.first { $0.id == account.providerID }?.name ?? account.providerID
    }
}

/// A provider, as the daemon describes it.
struct ProviderRecord {
    let path: ObjectPath
    let properties: [String: Variant]

    init?(path: ObjectPath, interfaces: [String: [String: Variant]]) {
        guard let properties = interfaces[InterfaceName.provider.text] else { return nil }
        self.path = path
        self.properties = properties
    }

    var id: String { properties["Id"]?.string ?? "" }
    var name: String { properties["Name"]?.string ?? id }
    var authentication: String { properties["Authentication"]?.string ?? "" }
    var capabilities: [String] { properties["Capabilities"]?.strings ?? [] }
    var isConfigured: Bool { properties["Configured"]?.bool ?? true }
    /// `ready` for a daemon that does not say.
    var state: String { properties["State"]?.string ?? "ready" }
    var stateReason: String { properties["StateReason"]?.string ?? "" }
    /// Why the provider cannot be used, with its ID; nil if it can.
    var problem: String? { stateReason.isEmpty ? nil : "\(id): \(stateReason)" }
    /// What is to be shown as the state: a provider that is ready may still need settings.
    var shownState: String {
        state == "ready" && !isConfigured ? "not configured" : state
    }
    /// What keeps a plugin from the rest of the computer; empty for what comes with the daemon.
    var sandbox: String { properties["Sandbox"]?.string ?? "" }
    /// Where a browser returns to after a login; empty where there is no such thing.
    var redirectAddress: String { properties["RedirectUri"]?.string ?? "" }
}
