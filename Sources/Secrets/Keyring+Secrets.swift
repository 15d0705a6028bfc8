internal import Translation
internal import Web

/// One secret per key, stored in items of collections.
extension Keyring {
    /// Returns the collection for secrets: the default one; without one, the only open one, or the only one; nil if there
    /// is none of them.
    private func collection() throws -> KeyringCollection? {
        if let collection = try defaultCollection() { return collection }
        let lasting = try lastingCollections()
        let open = lasting.filter { !$0.isLocked }
        let found = open.isEmpty ? lasting : open
        return found.count == 1 ? found[0] : nil
    }

    private func lastingCollections() throws -> [KeyringCollection] {
        try collections().filter { !$0.isTemporary }
    }

    /// Throws if a search would show a prompt.
    ///
    /// While all its databases are locked, KeePassXC shows a dialog for a search (its setting `UnlockBeforeSearch`,
    /// which is on by default).
    ///
    /// - Throws: ``SecretStoreError/locked(_:)``; ``SecretStoreError/unavailable(_:)`` without a default collection.
    func checkSearch() throws {
        let collection = try collection()
        guard collection?.isLocked != false else { return }
        guard try !collections().contains(where: { !$0.isLocked }) else { return }
        throw collection == nil ? SecretStoreError.noDefaultKeyring : .keyringLocked
    }

    /// Returns the secret of a key if an unlocked item contains it. Call ``checkSearch()`` first.
    func lookUp(_ key: SecretKey) throws -> Secret? {
        for item in try items(key) where !item.isLocked {
            guard let secret = try secret(of: item) else { continue }
            // KWallet returns an empty secret instead of an error if the wallet was closed in the meantime.
            guard try !secret.isEmpty || items(key).contains(where: { !$0.isLocked }) else {
                continue
            }
            return secret
        }
        return nil
    }

    /// Returns the reason why an unsuccessful search for a key is not conclusive; nil if the key has no secret.
    ///
    /// Some keyrings do not find locked items, so a locked collection may contain any item.
    func obstacle(_ key: SecretKey) throws -> SecretStoreError? {
        let hasLockedItem = try items(key).contains(where: \.isLocked)
        guard let collection = try collection() else {
            let lasting = try lastingCollections()
            if lasting.isEmpty { return .noDefaultKeyring }
            // Several collections are open. A search in all of them is conclusive.
            return hasLockedItem || lasting.contains(where: \.isLocked) ? .keyringLocked : nil
        }
        if collection.isLocked { return .keyringLocked }
        return hasLockedItem ? .itemLocked : nil
    }

    /// Unlocks the default collection, or creates it, and then unlocks the items of keys. Prompts if necessary.
    ///
    /// - Parameters:
    ///   - keys: The keys of secrets that will be read, replaced or deleted.
    ///   - isForStoring: True if the default collection is needed even if the items of all keys are unlocked. It is
    ///     created if there is none.
    /// - Throws: ``SecretStoreError/dismissed(_:)`` if the user did not unlock it.
    func ensureUnlocked(_ keys: [SecretKey], isForStoring: Bool) throws {
        if !isForStoring, try areUnlocked(keys) { return }
        let collection = try collection()
        if collection == nil, !isForStoring { throw SecretStoreError.noDefaultKeyring }
        if collection?.isLocked != false {
            let isDone = try collection.map { try unlock([$0.object]) } ?? createDefaultCollection()
            guard isDone, try self.collection()?.isLocked == false else {
                throw SecretStoreError.promptDismissed
            }
        }
        // One prompt for all items.
        let locked = try keys.flatMap(items).filter(\.isLocked)
        guard !locked.isEmpty else { return }
        _ = try unlock(locked.map(\.object))
        guard try !keys.flatMap(items).contains(where: \.isLocked) else {
            throw SecretStoreError.accessDenied
        }
    }

    /// Returns true if every key has items and none is locked.
    private func areUnlocked(_ keys: [SecretKey]) throws -> Bool {
        do { try checkSearch() } catch is SecretStoreError { return false }
        return try keys.allSatisfy { key in
            let items = try items(key)
            return !items.isEmpty && !items.contains(where: \.isLocked)
        }
    }

    /// Stores a secret and deletes the other items of the key. Shows no prompt.
    func store(_ secret: Secret, _ key: SecretKey, label: String) throws {
        guard let collection = try collection() else {
            throw SecretStoreError.noDefaultKeyring
        }
        guard !collection.isLocked else { throw SecretStoreError.keyringLocked }
        setTimeLimit(limits.writing)
        // KeePassXC would show a prompt for access to the item that is replaced.
        guard try !items(key).contains(where: { $0.isLocked && collection.contains($0) }) else {
            throw SecretStoreError.itemLocked
        }
        guard let path = try create(secret, key, label: label, in: collection) else {
            throw SecretStoreError.failed(Message("The keyring did not store the secret."))
        }
        // Other items may remain: a search returns the latest first.
        for other in try items(key) where other.path != path && !other.isLocked {
            try deleteSilently(other)
        }
    }

    /// Deletes every item of a key, or none. Prompts only if the keyring requires a confirmation.
    func deleteAll(_ key: SecretKey) throws {
        try checkSearch()
        setTimeLimit(limits.prompting)
        let found = try items(key)
        /// Returns true if all found items are in unlocked collections. KWallet removes an item of a closed wallet from
        /// its list but not its secret.
        func areOpen() throws -> Bool {
            let open = found.isEmpty ? [] : try collections().filter { !$0.isLocked }
            return found.allSatisfy { item in open.contains { $0.contains(item) } }
        }
        // KeePassXC deletes an item even if access to it was not granted.
        if let obstacle = try obstacle(key), try obstacle != .itemLocked || !areOpen() {
            throw obstacle
        }
        var isConfirmed = true
        for item in found where try !delete(item) { isConfirmed = false }
        // A keyring may refuse without an error, or be locked in the meantime.
        guard try areOpen() else { throw SecretStoreError.keyringLocked }
        guard try items(key).isEmpty else {
            throw isConfirmed
                ? SecretStoreError.failed(Message("The keyring did not delete the secret."))
                : .deletionDismissed
        }
    }
}
