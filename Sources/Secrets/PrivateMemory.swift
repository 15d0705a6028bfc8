internal import CLinux
internal import Glibc

/// Protects the memory of this process, which contains secrets from now on, from core dumps and from debuggers of the
/// same user.
///
/// The core limit is one byte, not zero: only a limit of one byte prevents the kernel from passing a dump to a program
/// such as systemd-coredump or apport. Child processes inherit the limit and may raise it.
///
/// Call this with the first secret and not at the start: a process that cannot be dumped cannot be inspected by its own
/// user either, and xdg-desktop-portal rejects such a process because it cannot open `/proc/PID/root`
/// (flatpak/xdg-desktop-portal#785, #1490). A browser is then opened without the portal.
///
/// Source: prctl(2), setrlimit(2), core(5); `fs/coredump.c` of the kernel for the one byte.
///
/// - Returns: True if both restrictions are in force.
@discardableResult
func protectMemory() -> Bool {
    let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return false }
    limit.rlim_cur = min(1, limit.rlim_max)
    return setrlimit(resource, &limit) == 0 && shim_forbid_dumps() == 0
}
