internal import CLinux
internal import Glibc

/// Keeps the memory of this process, which holds secrets from now on, to itself: out of core dumps, and from
/// debuggers of the same user.
///
/// The limit is one byte, and not none: that also stops the kernel from handing a dump to a program such as
/// systemd-coredump or apport. Programs that we start inherit it, and may raise it.
///
/// From the first secret on, and not from the start: a process that cannot be dumped cannot be looked into by
/// its own user either, and xdg-desktop-portal refuses it, since it cannot open `/proc/PID/root`
/// (flatpak/xdg-desktop-portal#785, #1490). A browser is then opened without the portal.
///
/// Source: prctl(2), setrlimit(2), core(5); `fs/coredump.c` of the kernel for the one byte.
///
/// - Returns: Whether the kernel obeyed.
@discardableResult
func keepMemoryPrivate() -> Bool {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return false }
    limit.rlim_cur = min(1, limit.rlim_max)
    return setrlimit(resource, &limit) == 0 && shim_forbid_dumps() == 0
}
