package import DBus
package import ProviderKit
internal import Translation

/// The properties of a provider on D-Bus.
package struct ProviderProperties: Equatable {
    package let path: ObjectPath
    package let properties: [String: Variant]

    package init(path: ObjectPath, properties: [String: Variant]) {
        self.path = path
        self.properties = properties
    }

    package func has(_ capability: String) -> Bool { capabilities.contains(capability) }

    package var id: String { properties["Id"]?.string ?? "" }
    package var name: String { properties["Name"]?.string ?? id }
    package var iconName: String { properties["IconName"]?.string ?? "" }
    package var authentication: String { properties["Authentication"]?.string ?? "" }
    /// True if the service has no users, and therefore no likes. The service of a plugin without a login can have likes.
    package var isWithoutUsers: Bool { authentication == "none" && sandbox.isEmpty }
    package var capabilities: [String] { properties["Capabilities"]?.strings ?? [] }
    package var isConfigured: Bool { properties["Configured"]?.bool ?? true }
    /// The state; `ready` if an older daemon does not have the property.
    package var state: String { properties["State"]?.string ?? "ready" }
    package var stateReason: String { properties["StateReason"]?.string ?? "" }
    /// The ID of the provider and the reason why it cannot be used; nil if it can be used.
    package var problem: String? { stateReason.isEmpty ? nil : "\(id): \(stateReason)" }
    /// The state as words for lists.
    package var shownState: String { state == "not-configured" ? "not configured" : state }
    /// The kind of the plugin's sandbox; empty for a built-in provider.
    package var sandbox: String { properties["Sandbox"]?.string ?? "" }
    /// The actions that the user must take before the configuration; empty if there are none.
    package var help: String { properties["Help"]?.string ?? "" }
    /// The redirect URI of browser logins; empty if the provider has no browser login.
    package var redirectAddress: String { properties["RedirectUri"]?.string ?? "" }
}

/// The D-Bus form of a source is `a{sv}`.
extension Source: BusType {
    package static let signature: Signature = "a{sv}"

    package init(from decoder: inout Decoder) throws(BusError) {
        let entries = try [String: Variant](from: &decoder)
        guard let id = entries["id"]?.string else { throw .invalidValue("a source has no ID") }
        self.init(
            id: SourceID(id), title: entries["title"]?.string ?? id,
            kind: entries["kind"]?.string.flatMap(Kind.init) ?? .feed,
            count: entries["count"]?.uint32.map(Int.init),
            cover: entries["cover"]?.string.map { PhotoID($0) })
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        try encoder.entry(Self.idHead, id.text)
        try encoder.entry(Self.titleHead, title.translated)
        try encoder.entry(Self.kindHead, kind.rawValue)
        encoder.entry(Self.countHead, count.map(UInt32.init(clamping:)))
        try encoder.entry(Self.coverHead, cover?.text)
        try encoder.endArray(start)
    }

    private static let idHead = EntryHead<String>("id")
    private static let titleHead = EntryHead<String>("title")
    private static let kindHead = EntryHead<String>("kind")
    private static let countHead = EntryHead<UInt32>("count")
    private static let coverHead = EntryHead<String>("cover")
}

extension Variant {
    /// The entries of a dictionary of the type `a{sv}`; nil for another type.
    package var members: [String: Variant]? {
        guard case .dictionary(let entries, let key, let value) = self, key == String.signature,
            value == AnyVariant.signature
        else { return nil }
        return entries.reduce(into: [:]) { members, entry in
            guard let name = entry.key.string, case .variant(let value) = entry.value else {
                return
            }
            members[name] = value
        }
    }

    /// The elements of an array of object paths; nil for another type.
    package var objectPaths: [ObjectPath]? {
        guard case .array(let elements, ObjectPath.signature) = self else { return nil }
        return elements.compactMap(\.objectPath)
    }
}
