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

    /// Deletes the secret of a key, and makes sure that it is gone. Never prompts. What is not there is no
    /// error.
    func delete(_ key: SecretKey) async throws

    /// Makes the keyring ready to take secrets: unlocks it, or has one made where there is none yet.
    ///
    /// Prompts if need be, so only because of something the user did; returns at once if it is ready.
    func unlock() async throws
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
    /// It refused, or answered nonsense.
    case failed(String)

    package var message: String {
        switch self {
        case .unavailable(let text), .locked(let text), .dismissed(let text), .failed(let text):
            text
        }
    }
}
