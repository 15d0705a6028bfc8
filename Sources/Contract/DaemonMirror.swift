package import DBus

/// The objects of the daemon with their properties, as last announced.
package struct DaemonMirror {
    /// The properties of the interface `Manager`.
    package private(set) var manager: [String: Variant] = [:]
    private var objects: [ObjectPath: [String: [String: Variant]]] = [:]

    package init() {}

    /// - Parameters:
    ///   - manager: The properties of the interface `Manager`.
    ///   - objects: The objects below the root object, with their interfaces and properties.
    package init(manager: [String: Variant], objects: [ObjectPath: [String: [String: Variant]]]) {
        self.manager = manager
        self.objects = objects
    }

    /// Applies properties of the interface `Manager`.
    package mutating func merge(_ properties: [String: Variant]) {
        manager.merge(properties) { $1 }
    }

    /// Applies a signal about objects or their properties.
    ///
    /// - Returns: False if the signal has another subject.
    package mutating func apply(_ signal: BusMessage) -> Bool {
        switch signal.member {
        case "InterfacesAdded":
            let added: (ObjectPath, [String: [String: Variant]])? = try? signal.read()
            guard let (path, interfaces) = added else { return false }
            objects[path, default: [:]].merge(interfaces) { $1 }
        case "InterfacesRemoved":
            let removed: (ObjectPath, [String])? = try? signal.read()
            guard let (path, interfaces) = removed else { return false }
            for interface in interfaces { objects[path]?[interface] = nil }
            if objects[path]?.isEmpty == true { objects[path] = nil }
        case "PropertiesChanged":
            let changed: (String, [String: Variant], [String])? = try? signal.read()
            guard let path = signal.path, let (interface, changes, _) = changed else {
                return false
            }
            if path == ServiceName.root {
                merge(changes)
            } else {
                objects[path]?[interface]?.merge(changes) { $1 }
            }
        default: return false
        }
        return true
    }

    package var version: String { manager["Version"]?.string ?? "" }
    /// False while NetworkManager reports no network.
    package var isOnline: Bool { manager["Online"]?.bool ?? true }
    /// Sentences about problems that belong to no account.
    package var notices: [String] { manager["Notices"]?.strings ?? [] }
    /// The path of the default account; nil if no account is logged in.
    package var defaultAccount: ObjectPath? {
        manager["DefaultAccount"]?.objectPath.flatMap { $0 == .root ? nil : $0 }
    }

    /// The accounts, logged in or not, sorted by object path.
    package var accounts: [AccountProperties] {
        sorted(.account) { path, _ in
            AccountProperties(path: path, interfaces: objects[path] ?? [:])
        }
    }
    /// The combined account; nil if no account is logged in.
    package var combined: AccountProperties? {
        objects[ServiceName.combined].map {
            AccountProperties(path: ServiceName.combined, interfaces: $0)
        }
    }
    /// The providers, sorted by object path.
    package var providers: [ProviderProperties] { sorted(.provider, ProviderProperties.init) }
    /// The slideshows, sorted by object path, the default one first.
    package var slideshows: [SlideshowProperties] { sorted(.slideshow, SlideshowProperties.init) }

    /// Returns the objects that have an interface, with its properties, sorted by object path.
    private func sorted<Value>(
        _ interface: InterfaceName, _ make: (ObjectPath, [String: Variant]) -> Value
    ) -> [Value] {
        let found = objects.compactMapValues { $0[interface.text] }
        return found.sorted { $0.key.text < $1.key.text }.map { make($0.key, $0.value) }
    }
}
