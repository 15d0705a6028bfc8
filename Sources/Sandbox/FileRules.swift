internal import CSandbox
internal import Glibc

/// Which files a process may open from now on, and nothing else: Landlock.
///
/// What it has open stays open. Where the kernel knows network and signals in these rules, it may not bind
/// or connect by TCP either, nor reach abstract sockets and signal processes outside.
///
/// Source: landlock(7).
package struct FileRules {
    /// Files and folders that may be read and listed, with all that is below them.
    package var readable: [String] = []
    /// Files and folders below which libraries and programs may be loaded, too.
    package var executable: [String] = []
    /// Folders below which files may be made, changed and deleted, too.
    package var writable: [String] = []
    /// Whether TCP stays possible.
    package var allowsNetwork = false

    package init() {}

    /// The version of the kernel's interface; 0 where it has none, or it is switched off.
    package static var kernelVersion: Int { max(0, shim_landlock_version()) }

    private static let execute: UInt64 = 1 << 0
    private static let writeFile: UInt64 = 1 << 1
    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3
    private static let truncate: UInt64 = 1 << 14
    /// O_PATH, which Swift does not see.
    private static let pathOnly: Int32 = 0x20_0000
    /// What has a meaning for a file that is no folder, ioctl included.
    private static let ofFiles: UInt64 = execute | writeFile | readFile | truncate | 1 << 15

    /// Puts the rules in force, as far as the kernel knows them. Paths that do not exist are passed over.
    ///
    /// - Returns: Whether they are in force: false where the kernel has no such rules.
    /// - Throws: ``SandboxError``.
    package func enforce() throws(SandboxError) -> Bool {
        guard let descriptor = try ruleset() else { return false }
        defer { close(descriptor) }
        try ProcessRestrictions.check(
            shim_landlock_restrict(descriptor), "Putting file rules in force")
        return true
    }

    /// The rules, for a process that is about to start. The caller closes the descriptor.
    ///
    /// - Returns: nil where the kernel has no such rules.
    /// - Throws: ``SandboxError``.
    package func ruleset() throws(SandboxError) -> Int32? {
        let version = Self.kernelVersion
        guard version > 0 else { return nil }
        var ruleset = shim_landlock_ruleset()
        // The first version knows 13 rights, the second REFER, the third TRUNCATE, the fifth IOCTL_DEV.
        ruleset.files = (1 << (version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16)) - 1
        if version >= 4, !allowsNetwork { ruleset.network = 0b11 }
        if version >= 6 { ruleset.scopes = 0b11 }
        let size = version >= 6 ? 24 : version >= 4 ? 16 : 8
        let descriptor = Int32(shim_landlock_create(&ruleset, size))
        try ProcessRestrictions.check(descriptor, "Making file rules")
        let reading = Self.readFile | Self.readFolder
        do {
            try allow(readable, reading & ruleset.files, descriptor)
            try allow(executable, (reading | Self.execute) & ruleset.files, descriptor)
            try allow(writable, ruleset.files & ~Self.execute, descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func allow(
        _ paths: [String], _ rights: UInt64, _ ruleset: Int32
    ) throws(SandboxError) {
        for path in paths {
            let descriptor = open(path, Self.pathOnly | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            try ProcessRestrictions.check(fstat(descriptor, &status), "Looking at \(path)")
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            var rule = shim_landlock_path()
            rule.rights = isFolder ? rights : rights & Self.ofFiles
            rule.descriptor = descriptor
            try ProcessRestrictions.check(
                shim_landlock_allow(ruleset, &rule), "Allowing \(path)")
        }
    }
}
