internal import CSandbox
internal import Glibc
internal import LoopbackHTTP

/// A user without privileges, for tests of limits that do not apply to root.
package enum OrdinaryUser {
    /// Continues this process as another user, if the process belongs to root.
    ///
    /// Call it in a separate process, because the change is permanent. For a user other than root, nothing changes.
    ///
    /// - Parameters:
    ///   - programs: The names of the programs of this package that the user must be able to run.
    ///   - isNamed: True for a user with a name, which `dbus-daemon` requires; false for a user without other
    ///     processes.
    /// - Returns: A directory of the user that contains the programs.
    /// - Throws: ``SystemError``, `SpawnError`.
    package static func become(
        copying programs: [String], isNamed: Bool = false
    ) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        // The build folder may not be accessible for other users.
        for program in programs {
            try BuiltProducts.copy(program, to: directory.appending(program))
        }
        guard geteuid() == 0 else { return directory }
        let user = isNamed ? try namedID() : unusedID()
        try directory.changeOwner(to: user)
        guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
            throw SystemError("setuid", errno)
        }
        // The change of the user ID makes the files of the process in /proc inaccessible.
        guard shim_set_dumpable(1) == 0 else { throw SystemError("prctl", errno) }
        return directory
    }

    private static func namedID() throws -> uid_t {
        guard let user = getpwnam("nobody") else { throw SystemError("getpwnam", errno) }
        return user.pointee.pw_uid
    }

    /// Returns a user ID without a name and, most likely, without other processes.
    private static func unusedID() -> uid_t {
        var id = uid_t(50_000 + getpid() % 10_000)
        while getpwuid(id) != nil { id += 1 }
        return id
    }
}
