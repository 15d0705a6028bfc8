internal import Glibc

/// Keeps the memory of this process, which holds secrets, out of core dumps.
///
/// A limit of one byte, and not of none: that also stops the kernel from handing a dump to a program such as
/// systemd-coredump or apport. Programs that we start inherit it, and may raise it.
///
/// Not by `PR_SET_DUMPABLE`, though it would keep debuggers of the same user out as well: xdg-desktop-portal
/// refuses a process whose `/proc/PID/root` it cannot open (flatpak/xdg-desktop-portal#785, #1490), and logins
/// open their page through it.
///
/// Source: setrlimit(2), core(5); `fs/coredump.c` of the kernel for the one byte.
///
/// - Returns: Whether the kernel obeyed.
@discardableResult
package func forbidCoreDumps() -> Bool {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return false }
    limit.rlim_cur = min(1, limit.rlim_max)
    return setrlimit(resource, &limit) == 0
}
