package import Translation

/// A store of tokens and client secrets.
///
/// Every call has a time limit and fails only with ``SecretStoreError``. A call continues when its task is cancelled.
package protocol SecretStore: Sendable {
    /// Stores a secret. It replaces the secret of the same key. Never prompts.
    ///
    /// - Parameters:
    ///   - secret: Text or other bytes.
    ///   - key: The key.
    ///   - label: The name that a keyring manager shows: "Image Feed: ada at Unsplash".
    /// - Throws: ``SecretStoreError``. The previous secret then remains.
    func store(_ secret: Secret, for key: SecretKey, label: String) async throws

    /// Returns the secret of a key. Never prompts.
    ///
    /// - Parameter key: The key.
    /// - Returns: The secret; nil if the store certainly has none. A store that cannot be searched is an error.
    /// - Throws: ``SecretStoreError``.
    func lookUp(_ key: SecretKey) async throws -> Secret?

    /// Deletes the secret of a key and verifies that it is gone. A missing secret is not an error.
    ///
    /// Does not unlock the store. Some keyrings ask the user to confirm a deletion, so call it only after a user
    /// action.
    func delete(_ key: SecretKey) async throws

    /// Unlocks the secret store and the secrets of the keys, which some keyrings lock separately.
    ///
    /// Prompts if necessary, so call it only after a user action. Returns at once if nothing is locked. The prompt ends
    /// when the task is cancelled.
    ///
    /// - Parameters:
    ///   - keys: The keys of secrets that will be read, replaced or deleted.
    ///   - isForStoring: True if the store must accept new secrets. A missing keyring is then created.
    /// - Throws: ``SecretStoreError``.
    func unlock(_ keys: [SecretKey], isForStoring: Bool) async throws

    /// Keeps the connection to the keyring open between calls. Without it, KeePassXC forgets the access that the user
    /// granted.
    ///
    /// - Parameter isNeeded: True while an account or a login has a secret in the store.
    func keepConnection(_ isNeeded: Bool)
}

extension SecretStore {
    /// Unlocks the secret store for new secrets.
    package func unlock() async throws { try await unlock([], isForStoring: true) }
}

/// The key of a secret. It is not secret itself.
package enum SecretKey: Hashable, Sendable {
    /// The token of an account, by the account ID.
    case account(String)
    /// The client secret of a provider, by the provider ID.
    case provider(String)
    /// The client registration at a server, by the server name and the provider ID.
    case server(String, of: String)
    /// The password of a logged-out account that could not be revoked yet, by the account ID.
    case revocation(String)
}

/// The errors of the secret store.
///
/// A text is one or two sentences for the user and contains no secret.
package enum SecretStoreError: ExplainedError, Hashable, Sendable {
    /// There is no keyring, or it does not respond.
    case unavailable(Message)
    /// The keyring is locked.
    case locked(Message)
    /// The user dismissed the prompt.
    case dismissed(Message)
    /// The keyring is unlocked, and the user denied access to the secret.
    case denied(Message)
    /// The keyring refused the call or sent an invalid reply.
    case failed(Message)

    /// The message for the user.
    package var message: Message {
        switch self {
        case .unavailable(let message), .locked(let message), .dismissed(let message),
            .denied(let message),
            .failed(let message):
            message
        }
    }

    /// True if the store cannot be unlocked, because it is missing or does not work.
    package var isStoreGone: Bool {
        switch self {
        case .unavailable, .failed: true
        case .locked, .dismissed, .denied: false
        }
    }
}
