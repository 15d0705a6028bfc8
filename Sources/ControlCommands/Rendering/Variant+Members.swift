internal import DBus

extension Variant {
    /// The entries of a dictionary of the type `a{sv}`; nil for another type.
    var members: [String: Variant]? {
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
}
