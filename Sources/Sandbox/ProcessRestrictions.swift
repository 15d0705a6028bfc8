internal import CSandbox
internal import Glibc

/// Restrictions that a process imposes permanently on itself and its children.
///
/// Impose them while the process has one thread, and before it reads any untrusted data.
package enum ProcessRestrictions {
    /// Prevents programs that the process executes from gaining privileges. Required for ``SystemCallFilter`` and
    /// ``FileRules``.
    ///
    /// - Throws: ``SandboxError``; not expected.
    package static func forbidNewPrivileges() throws(SandboxError) {
        try check(shim_no_new_privileges(), "Setting no_new_privs")
    }

    /// Makes the kernel kill the process when the thread that started it ends; for the main thread, with the parent
    /// process.
    ///
    /// - Parameter parent: The process ID of the parent, as reported by the parent. If the parent has already ended,
    ///   this function exits the process.
    /// - Throws: ``SandboxError``.
    package static func dieWithParent(_ parent: Int32) throws(SandboxError) {
        try check(shim_die_with_parent(SIGKILL), "Setting the parent-death signal")
        if getppid() != parent { _exit(EXIT_FAILURE) }
    }

    /// Disables core files, and prevents other processes of the user from reading the memory.
    package static func forbidInspection() throws(SandboxError) {
        try check(shim_set_dumpable(0), "Disabling core dumps")
    }

    /// Closes every descriptor from `first` on.
    package static func closeDescriptors(from first: Int32) {
        if shim_close_from(UInt32(first)) == 0 { return }
        // Linux before 5.9 has no close_range.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        for descriptor in first..<Int32(clamping: min(limit.rlim_cur, 65_536)) { close(descriptor) }
    }

    /// Makes the process the first candidate for termination when memory runs out.
    package static func raiseOutOfMemoryScore() {
        let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = write(file, "1000", 4)
    }

    /// Limits a resource, by its number such as `RLIMIT_CORE`. A lower existing limit remains.
    ///
    /// - Throws: ``SandboxError``.
    ///
    /// The corresponding C function is `setrlimit`.
    package static func limit(_ resource: UInt32, to value: Int) throws(SandboxError) {
        let number = __rlimit_resource_t(resource)
        var limit = rlimit()
        try check(getrlimit(number, &limit), "Reading a resource limit")
        limit.rlim_max = min(limit.rlim_max, rlim_t(value))
        limit.rlim_cur = limit.rlim_max
        try check(setrlimit(number, &limit), "Setting a resource limit")
    }

    static func check(_ result: some BinaryInteger, _ restriction: String) throws(SandboxError) {
        guard result < 0 else { return }
        throw SandboxError(restriction: restriction, code: errno)
    }
}

/// A restriction that could not be enforced.
package struct SandboxError: Error, Hashable, CustomStringConvertible {
    /// The attempted action.
    package let restriction: String
    /// The value of `errno`.
    package let code: Int32

    package var description: String { "\(restriction) failed with error \(code)" }
}
