internal import CProcesses
internal import Glibc
internal import Synchronization

/// The limit of open file descriptors of this process.
package enum DescriptorLimit {
    /// The soft limit before it was raised; 0 if it was not raised.
    private static let original = Atomic<UInt64>(0)

    /// Raises the soft limit, as far as the hard limit permits.
    ///
    /// Programs that are started with ``SpawnedProcess`` get the former soft limit back, because select(2) fails
    /// with descriptors above 1023.
    ///
    /// - Parameter count: The requested limit.
    package static func raise(to count: Int) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        let wanted = min(rlim_t(count), limit.rlim_max)
        guard limit.rlim_cur < wanted else { return }
        let former = limit.rlim_cur
        limit.rlim_cur = wanted
        if setrlimit(resource, &limit) == 0 { original.store(UInt64(former), ordering: .relaxed) }
    }

    /// Restores the former soft limit in a program that was just started.
    ///
    /// - Parameter process: A child that has not been waited for.
    static func restore(in process: pid_t) {
        let former = original.load(ordering: .relaxed)
        if former > 0 { shim_lower_descriptor_limit(process, rlim_t(former)) }
    }
}
