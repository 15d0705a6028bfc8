internal import CSandbox
internal import Glibc

/// The files that a process may open from now on: Landlock.
///
/// Files that are already open are not affected. If the kernel supports network and scope rules, the process also
/// cannot bind or connect by TCP, connect to abstract sockets, or signal processes outside.
///
/// Source: landlock(7).
package struct FileRules {
    /// Files and folders that may be read and listed, including their contents.
    package var readable: [String] = []
    /// Files and folders from which libraries and programs may also be loaded.
    package var executable: [String] = []
    /// Folders in which files may also be created, changed and deleted.
    package var writable: [String] = []

    package init() {}

    /// The version of the kernel's Landlock interface; 0 if it is missing or disabled.
    package static var kernelVersion: Int { max(0, shim_landlock_version()) }

    private static let execute: UInt64 = 1 << 0
    private static let writeFile: UInt64 = 1 << 1
    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3
    private static let truncate: UInt64 = 1 << 14
    /// O_PATH, which Swift does not import.
    private static let pathOnly: Int32 = 0x20_0000
    /// The rights that apply to files that are not folders, including ioctl.
    private static let ofFiles: UInt64 = execute | writeFile | readFile | truncate | 1 << 15

    /// Enforces the rules, as far as the kernel supports them. Paths that do not exist are ignored.
    ///
    /// - Returns: False if the kernel does not support Landlock.
    /// - Throws: ``SandboxError``.
    package func enforce() throws(SandboxError) -> Bool {
        guard let descriptor = try ruleset() else { return false }
        defer { close(descriptor) }
        try ProcessRestrictions.check(
            shim_landlock_restrict(descriptor), "Enforcing the file rules")
        return true
    }

    /// Creates a ruleset for a process that is about to start. The caller closes the descriptor.
    ///
    /// - Returns: The descriptor; nil if the kernel does not support Landlock.
    /// - Throws: ``SandboxError``.
    package func ruleset() throws(SandboxError) -> Int32? {
        let version = Self.kernelVersion
        guard version > 0 else { return nil }
        var ruleset = shim_landlock_ruleset()
        // Version 1 has 13 rights; version 2 adds REFER, version 3 TRUNCATE, version 5 IOCTL_DEV.
        ruleset.files = (1 << (version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16)) - 1
        if version >= 4 { ruleset.network = 0b11 }
        if version >= 6 { ruleset.scopes = 0b11 }
        let size = version >= 6 ? 24 : version >= 4 ? 16 : 8
        let descriptor = Int32(shim_landlock_create(&ruleset, size))
        try ProcessRestrictions.check(descriptor, "Creating the file rules")
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

    private func allow(_ paths: [String], _ rights: UInt64, _ ruleset: Int32) throws(SandboxError) {
        for path in paths {
            let descriptor = open(path, Self.pathOnly | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var status = stat()
            try ProcessRestrictions.check(
                fstat(descriptor, &status), "Reading the status of \(path)")
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            var rule = shim_landlock_path()
            rule.rights = isFolder ? rights : rights & Self.ofFiles
            rule.descriptor = descriptor
            try ProcessRestrictions.check(shim_landlock_allow(ruleset, &rule), "Allowing \(path)")
        }
    }
}
