internal import CSecret
internal import ProviderKit

/// libsecret, loaded when it is first needed, for the rest of the program's life.
struct SecretLibrary {
    /// Its functions, and those of GLib that go with them.
    private(set) var functions = shim_secret()

    /// - Parameter name: What the dynamic loader looks for.
    /// - Throws: ``SecretStoreError/unavailable(_:)``.
    init(_ name: String = "libsecret-1.so.0") throws(SecretStoreError) {
        if let reason = shim_secret_load(&functions, name) {
            throw .unavailable(
                "Secrets cannot be kept without libsecret: install it, as the package libsecret-1-0 or"
                    + " libsecret (\(String(cString: reason))).")
        }
        // Even where G_DEBUG asks for it, a warning does not end the daemon.
        _ = functions.g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
    }
}
