internal import CSecret
internal import ProviderKit

/// libsecret, which is loaded on first use and never unloaded.
struct SecretLibrary {
    /// The functions of libsecret, and those of GLib that are used with them.
    private(set) var functions = shim_secret()

    /// - Parameter name: The name for the dynamic loader.
    /// - Throws: ``SecretStoreError/unavailable(_:)``.
    init(_ name: String = "libsecret-1.so.0") throws(SecretStoreError) {
        if let reason = shim_secret_load(&functions, name) {
            throw .unavailable(
                "libsecret is required for the keyring: install the package libsecret-1-0 or libsecret"
                    + " (\(String(cString: reason))).")
        }
        // A warning must not end the daemon, even if G_DEBUG requests it.
        _ = functions.g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
    }
}
