/// The kind of the sandbox of a plugin.
nonisolated package enum SandboxKind: String, CaseIterable, Sendable {
    /// Namespaces without network, other processes or files but the system's, made by `bwrap`; a filter of
    /// system calls.
    case bubblewrap
    /// Rules of Landlock about files, and a filter of system calls.
    case landlock
    /// Limits and a filter of system calls alone: only where the user says so.
    case none

    /// The namespaces that `bubblewrap` makes beside that of mounts, by their names in `RestrictNamespaces=`.
    ///
    /// The unit of systemd must permit them.
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
    ]
}
