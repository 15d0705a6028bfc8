package import DBus

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
}

extension Variant {
    /// The elements of an array of object paths; nil for another type.
    package var objectPaths: [ObjectPath]? {
        guard case .array(let elements, ObjectPath.signature) = self else { return nil }
        return elements.compactMap(\.objectPath)
    }
}
