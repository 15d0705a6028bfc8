internal import CLinux

/// Keeps the memory of this process, which holds secrets, from core dumps and from the debuggers of other
/// processes of the same user.
///
/// Programs that it starts are dumped as usual, if they raise their limit. What remains open to root remains so;
/// most of `/proc/PID` now belongs to root.
///
/// Source: prctl(2), `PR_SET_DUMPABLE`; core(5).
///
/// - Returns: Whether the kernel obeyed.
@discardableResult
package func forbidCoreDumps() -> Bool { shim_forbid_core_dumps() == 0 }
