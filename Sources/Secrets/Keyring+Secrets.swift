internal import ProviderKit

/// One secret a key, on top of items and collections, of which there may be many.
extension Keyring {
    /// The secret of a key, if an item that is not locked has it.
    func lookUp(_ key: SecretKey) throws -> Secret? {
        for item in try items(key) where !item.isLocked {
            if let secret = try secret(of: item) { return secret }
        }
        return nil
    }

    /// What has to be unlocked to know whether there is a secret of the key; nil for nothing.
    ///
    /// Some keyrings do not find what is locked, so a locked one may have anything.
    ///
    /// - Throws: ``SecretStoreError/unavailable(_:)`` when there is no collection to ask: the one that has the
    ///   secret may not be open.
    func lockedItems(_ key: SecretKey) throws -> LockedObjects? {
        let locked = try items(key).filter(\.isLocked)
        if !locked.isEmpty { return .items(locked) }
        guard let collection = try defaultCollection() else {
            throw SecretStoreError.noDefaultKeyring
        }
        return collection.isLocked ? .collection(collection) : nil
    }

    /// Unlocks them. Prompts.
    func unlock(_ objects: LockedObjects) throws -> Bool {
        switch objects {
        case .items(let items): try unlock(items.map { UnsafeMutableRawPointer($0.held.pointer) })
        case .collection(let collection):
            try unlock([UnsafeMutableRawPointer(collection.held.pointer)])
        }
    }

    /// Unlocks the default collection, or has one made. Prompts.
    func unlockDefaultCollection() throws -> Bool {
        guard let collection = try defaultCollection() else { return try createDefaultCollection() }
        return try unlock(.collection(collection))
    }

    /// Stores a secret, and deletes what else the key has.
    func store(_ secret: Secret, _ key: SecretKey, label: String) throws {
        guard let collection = try defaultCollection() else {
            throw SecretStoreError.noDefaultKeyring
        }
        guard !collection.isLocked else { throw SecretStoreError.keyringLocked }
        allow(limits.writing)
        guard let path = try create(secret, key, label: label, in: collection) else {
            throw SecretStoreError.failed("The keyring did not take the secret.")
        }
        // A locked one elsewhere can stay: whoever looks up takes the unlocked ones first.
        for other in try items(key) where other.path != path && !other.isLocked {
            try delete(other)
        }
    }

    /// Deletes every item of a key.
    func deleteAll(_ key: SecretKey) throws {
        allow(limits.writing)
        for item in try items(key) where !item.isLocked { try delete(item) }
        // A keyring that refuses may not say so.
        guard try lockedItems(key) == nil else { throw SecretStoreError.keyringLocked }
        guard try items(key).isEmpty else {
            throw SecretStoreError.failed("The keyring did not delete the secret.")
        }
    }
}

/// What has to be unlocked.
enum LockedObjects {
    case items([KeyringItem])
    case collection(KeyringCollection)
}
