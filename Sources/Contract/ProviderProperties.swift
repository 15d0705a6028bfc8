package import DBus

/// The properties of a provider on D-Bus.
package struct ProviderProperties: Equatable {
    package let path: ObjectPath
    package let properties: [String: Variant]

    /// True if the service is used without a login.
    package var isWithoutUsers: Bool { properties["Authentication"]?.string == "none" }

    package init?(path: ObjectPath, interfaces: [String: [String: Variant]]) {
        guard let properties = interfaces[InterfaceName.provider.text] else { return nil }
        self.init(path: path, properties: properties)
    }

    private init(path: ObjectPath, properties: [String: Variant]) {
        self.path = path
        self.properties = properties
    }

    /// The provider after its settings were saved.
    package var configured: ProviderProperties {
        ProviderProperties(
            path: path, properties: properties.merging(["Configured": .bool(true)]) { $1 })
    }

    package func has(_ capability: String) -> Bool { capabilities.contains(capability) }

    package var id: String { properties["Id"]?.string ?? "" }
    package var name: String { properties["Name"]?.string ?? id }
    package var authentication: String { properties["Authentication"]?.string ?? "" }
    package var capabilities: [String] { properties["Capabilities"]?.strings ?? [] }
    package var isConfigured: Bool { properties["Configured"]?.bool ?? true }
    /// The state; `ready` if an older daemon does not have the property.
    package var state: String { properties["State"]?.string ?? "ready" }
    package var stateReason: String { properties["StateReason"]?.string ?? "" }
    /// The ID of the provider and the reason why it cannot be used; nil if it can be used.
    package var problem: String? { stateReason.isEmpty ? nil : "\(id): \(stateReason)" }
    /// The state for lists, in which a ready provider without its settings is `not configured`.
    package var shownState: String {
        state == "ready" && !isConfigured ? "not configured" : state
    }
    /// The kind of the plugin's sandbox; empty for a built-in provider.
    package var sandbox: String { properties["Sandbox"]?.string ?? "" }
    /// The actions that the user must take before the configuration; empty if there are none.
    package var help: String { properties["Help"]?.string ?? "" }
    /// The redirect URI of browser logins; empty if the provider has no browser login.
    package var redirectAddress: String { properties["RedirectUri"]?.string ?? "" }
}
