package import Web

/// The action of the user that ends a problem. Clients phrase it and decide by it instead of by texts.
///
/// The raw values are those of the D-Bus property `Remedy`.
public enum Remedy: String, Hashable, Sendable {
    /// Log in again.
    case login
    /// Unlock the keyring.
    case unlock
    /// Install or start a keyring.
    case installKeyring = "install-keyring"
    /// Correct the configuration of the provider.
    case configure
    /// Free space on the disk.
    case freeSpace = "free-space"
    /// Try again.
    case retry
}

extension SecretStoreError {
    /// The action of the user that makes the secret store usable.
    package var remedy: Remedy {
        switch self {
        case .unavailable: .installKeyring
        case .locked, .dismissed, .denied: .unlock
        case .failed: .retry
        }
    }
}
