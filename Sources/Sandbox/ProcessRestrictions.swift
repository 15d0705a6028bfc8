internal import CSandbox
internal import Glibc

/// What a process gives up for good, for itself and whatever it starts.
///
/// To be called while it has one thread, and before it reads the first byte that somebody else wrote.
package enum ProcessRestrictions {
    /// Gains no rights by what it executes; the condition for ``SystemCallFilter`` and ``FileRules``.
    ///
    /// - Throws: ``SandboxError``; there is hardly a reason.
    package static func keepPrivileges() throws(SandboxError) {
        try check(shim_no_new_privileges(), "Giving up privileges")
    }

    /// Is killed when the thread that started it ends: when that was the main thread, with its parent.
    ///
    /// - Parameter parent: Who that was, as it told itself. If it is gone already, this does not return.
    /// - Throws: ``SandboxError``.
    package static func dieWithParent(_ parent: Int32) throws(SandboxError) {
        try check(shim_die_with_parent(SIGKILL), "Following the parent")
        if getppid() != parent { _exit(EXIT_FAILURE) }
    }

    /// Leaves no core file, and lets no other process of the user look into its memory.
    package static func forbidInspection() throws(SandboxError) {
        try check(shim_set_dumpable(0), "Forbidding inspection")
    }

    /// Closes every descriptor from `first` on.
    package static func closeDescriptors(from first: Int32) {
        if shim_close_from(UInt32(first)) == 0 { return }
        // A kernel before 5.9.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        for descriptor in first..<Int32(clamping: min(limit.rlim_cur, 65_536)) { close(descriptor) }
    }

    /// Is the first to go when memory runs out.
    package static func volunteerForMemory() {
        let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = write(file, "1000", 4)
    }

    /// What a process can be given less of.
    package enum Resource: Sendable {
        /// Bytes of memory, all mappings counted. What asks for more gets none.
        case addressSpace
        /// Seconds of processor time, over all its life. Then it is killed.
        case processorSeconds
        /// The number that no descriptor reaches.
        case descriptors
        /// How many bytes a file may get. Then writing fails.
        case fileBytes
        /// Of a core file.
        case coreBytes

        var number: __rlimit_resource {
            switch self {
            case .addressSpace: RLIMIT_AS
            case .processorSeconds: RLIMIT_CPU
            case .descriptors: RLIMIT_NOFILE
            case .fileBytes: RLIMIT_FSIZE
            case .coreBytes: RLIMIT_CORE
            }
        }
    }

    /// Limits a resource, or keeps a limit that is narrower already.
    ///
    /// - Throws: ``SandboxError``.
    ///
    /// The corresponding C function is `setrlimit`.
    package static func limit(_ resource: Resource, to value: Int) throws(SandboxError) {
        let number = __rlimit_resource_t(resource.number.rawValue)
        var limit = rlimit()
        try check(getrlimit(number, &limit), "Reading a limit")
        limit.rlim_max = min(limit.rlim_max, rlim_t(value))
        limit.rlim_cur = limit.rlim_max
        try check(setrlimit(number, &limit), "Setting a limit")
    }

    static func check(_ result: some BinaryInteger, _ restriction: String) throws(SandboxError) {
        guard result < 0 else { return }
        throw SandboxError(restriction: restriction, code: errno)
    }
}
