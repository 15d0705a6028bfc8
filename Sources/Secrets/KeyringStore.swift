internal import Dispatch
package import ProviderKit
internal import Synchronization

/// Secrets in the keyring of the desktop: whatever serves the freedesktop Secret Service.
///
/// The work is done on a queue of its own, one call after the other. Each opens its own connection to the bus
/// and closes it, so that nothing is held that a new keyring would not know, and nothing wakes us afterwards.
/// libsecret is loaded by the first call.
package final class KeyringStore: SecretStore {
    private let limits: KeyringLimits
    private let libraryName: String
    private let queue = DispatchQueue(label: "org.imagefeed.secrets")
    // Touched on `queue` alone.
    nonisolated(unsafe) private var library: SecretLibrary?
    /// Whether a prompt is shown, which may take long.
    private let isPrompting = Mutex(false)

    package init(
        limits: KeyringLimits = KeyringLimits(), libraryName: String = "libsecret-1.so.0"
    ) {
        self.limits = limits
        self.libraryName = libraryName
    }

    package func store(_ secret: Secret, for key: SecretKey, label: String) async throws {
        try failIfPrompting()
        try await run { keyring in try keyring.store(secret, key, label: label) }
    }

    package func lookUp(_ key: SecretKey, unlocking: Bool) async throws -> Secret? {
        if !unlocking { try failIfPrompting() }
        return try await run { [self] keyring in
            if let secret = try keyring.lookUp(key) { return secret }
            let locked = try keyring.lockedItems(key)
            guard unlocking || locked == nil else { throw SecretStoreError.keyringLocked }
            guard let locked else { return nil }
            guard try prompting({ try keyring.unlock(locked) }) else {
                throw SecretStoreError.promptDismissed
            }
            if let secret = try keyring.lookUp(key) { return secret }
            guard try keyring.lockedItems(key) == nil else {
                throw SecretStoreError.promptDismissed
            }
            return nil
        }
    }

    package func delete(_ key: SecretKey) async throws {
        try failIfPrompting()
        try await run { keyring in try keyring.deleteAll(key) }
    }

    package func unlock() async throws {
        try await run { [self] keyring in
            guard try keyring.defaultCollection()?.isLocked != false else { return }
            let isDone = try prompting { try keyring.unlockDefaultCollection() }
            guard isDone, try keyring.defaultCollection()?.isLocked == false else {
                throw SecretStoreError.promptDismissed
            }
        }
    }

    // MARK: The queue

    /// Runs `body` with a keyring, and once more if that went away meanwhile.
    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (Keyring) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        do {
                            do {
                                return try body(Keyring(try loadedLibrary(), limits))
                            } catch KeyringFailure.vanished {
                                return try body(Keyring(try loadedLibrary(), limits))
                            }
                        } catch let failure as KeyringFailure {
                            throw failure.storeError
                        }
                    })
            }
        }
    }

    private func loadedLibrary() throws -> SecretLibrary {
        if let library { return library }
        keepMemoryPrivate()
        let library = try SecretLibrary(libraryName)
        self.library = library
        return library
    }

    // MARK: Prompts

    /// What does not prompt does not wait for a prompt either: there is one because something is locked.
    private func failIfPrompting() throws {
        if isPrompting.withLock({ $0 }) { throw SecretStoreError.keyringLocked }
    }

    private func prompting(_ body: () throws -> Bool) throws -> Bool {
        isPrompting.withLock { $0 = true }
        defer { isPrompting.withLock { $0 = false } }
        return try body()
    }
}
