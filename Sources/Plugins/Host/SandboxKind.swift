/// The kind of the sandbox of a plugin.
nonisolated package enum SandboxKind: String, CaseIterable, Sendable {
    /// Namespaces that `bwrap` creates, without network and other processes and with only the files of the system and
    /// the plugin; a filter of system calls.
    case bubblewrap
    /// Landlock rules for files, and a filter of system calls.
    case landlock
    /// Only limits and a filter of system calls. Requires permission in the configuration.
    case none

    /// The namespaces that `bwrap` creates in addition to the mount namespace, by their names in `RestrictNamespaces=`.
    ///
    /// The systemd unit must permit them.
    package static let namespaces = ["user", "pid", "net", "ipc"]

    /// The folders of system programs and their files. Every plugin can read them.
    static let systemFolders = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
        "/gnu/store",
    ]

    /// Further files that system programs read.
    static let systemFiles = [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
        "/etc/localtime",
        // Node.js does not start if the configuration of OpenSSL exists and cannot be read. On Fedora, it includes
        // others.
        "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/pki/tls/openssl.d",
        "/etc/crypto-policies/back-ends",
    ]
}
