/// Where tokens and client secrets are kept.
///
/// Every call fails with ``SecretStoreError`` and nothing else, and ends within a time limit, whatever the
/// keyring does. A call goes on when its task is cancelled: what it writes is written.
package protocol SecretStore: Sendable {
    /// Keeps a secret in place of the one that the key has. Never prompts.
    ///
    /// - Parameters:
    ///   - secret: Text, or any other bytes.
    ///   - key: What it is found by. There is one secret a key afterwards.
    ///   - label: What a person reads in a keyring manager: "Image Feed: ada at Unsplash".
    /// - Throws: ``SecretStoreError``; what the key had before stays then.
    func store(_ secret: Secret, for key: SecretKey, label: String) async throws

    /// The secret of a key.
    ///
    /// - Parameters:
    ///   - key: What it is found by.
    ///   - unlocking: Whether the user may be asked to unlock it: only because of something they did.
    /// - Returns: nil if it certainly is not there. A keyring that does not let us see is an error.
    /// - Throws: ``SecretStoreError``.
    func lookUp(_ key: SecretKey, unlocking: Bool) async throws -> Secret?

    /// Deletes the secret of a key, and makes sure that it is gone. A missing secret is no error.
    ///
    /// Unlocks nothing, but the keyring may want the deletion confirmed, so only because of an action of the user.
    func delete(_ key: SecretKey) async throws

    /// Unlocks the secret store, and the secrets of keys, which some keyrings lock one by one.
    ///
    /// Prompts if necessary, so only because of an action of the user; returns at once if nothing is locked. The
    /// prompt ends when the task is cancelled.
    ///
    /// - Parameters:
    ///   - keys: The keys of secrets that will be read, replaced or deleted.
    ///   - isForStoring: True if the store must take new secrets. A missing keyring is created then.
    /// - Throws: ``SecretStoreError``.
    func unlock(_ keys: [SecretKey], isForStoring: Bool) async throws

    /// Keeps the connection to the keyring between calls. KeePassXC forgets the granted access without it.
    ///
    /// - Parameter isNeeded: True while an account or a login has a secret in the store.
    func keepConnection(_ isNeeded: Bool)
}

extension SecretStore {
    /// Unlocks the secret store for new secrets.
    package func unlock() async throws { try await unlock([], isForStoring: true) }
}

/// What a secret is found by. Anybody can read it.
package enum SecretKey: Hashable, Sendable {
    /// The token of an account, by its ID.
    case account(String)
    /// What a provider as a whole is configured with, by its ID: the client secret.
    case provider(String)
    /// What the application is known by at a server of a provider, by the name of the server and the ID of
    /// the provider.
    case server(String, of: String)
}

/// Why the secret store does not do its part.
///
/// The texts are one sentence, or two, that a person can act on, and name no secret.
package enum SecretStoreError: Error, Hashable, Sendable {
    /// There is no keyring, or it does not answer.
    case unavailable(String)
    /// It is there, and has to be unlocked first.
    case locked(String)
    /// The user was asked to unlock it, and would not.
    case dismissed(String)
    /// It is unlocked, and the user denied access to the secret.
    case denied(String)
    /// It refused, or answered nonsense.
    case failed(String)

    package var message: String {
        switch self {
        case .unavailable(let text), .locked(let text), .dismissed(let text), .denied(let text),
            .failed(let text):
            text
        }
    }

    /// True if there is no way to unlock the store: it is missing, or does not work.
    package var isStoreGone: Bool {
        switch self {
        case .unavailable, .failed: true
        case .locked, .dismissed, .denied: false
        }
    }
}
