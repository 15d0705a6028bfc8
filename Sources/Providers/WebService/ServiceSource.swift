package import ProviderKit

/// A source of a service: a kind, and a name for some kinds.
package struct ServiceSource<Kind: SourceKind>: Hashable, Sendable {
    package let id: SourceID
    package let kind: Kind
    /// The name; empty for a kind without names.
    package let name: String

    /// Creates a source from its ID; nil for an ID of no source.
    package init?(_ id: SourceID) {
        let parts = id.parts
        guard let kind = Kind(rawValue: parts.kind), kind.accepts(parts.name) else { return nil }
        self.id = id
        self.kind = kind
        name = parts.name ?? ""
    }
}

/// The kinds of the sources of a service. The raw values are the parts of IDs before the colon.
package protocol SourceKind: RawRepresentable, Hashable, Sendable where RawValue == String {
    /// Returns true if there can be a source of this kind with a name, or without one for nil.
    func accepts(_ name: String?) -> Bool
}

extension SourceKind {
    /// The ID of the source of a kind without names.
    package var id: SourceID { SourceID(rawValue) }

    /// Returns the ID of the source with a name.
    package func id(_ name: String) -> SourceID { SourceID("\(rawValue):\(name)") }
}
