import Glibc
import System
import TestSupport

/// A file system with paths that hang and paths that fail.
final class FaultyDisk: Sendable {
    struct Faults {
        /// Substrings of the paths that hang, until they are removed from the set.
        var hanging: Set<String> = []
        /// The errors of paths, by substrings of the paths.
        var errors: [String: Int32] = [:]
        /// Mount points in addition to those of the kernel.
        var mountPoints: Set<String> = []
    }

    let faults = Observed(Faults())
    /// The paths of all calls that hang or hung.
    let hung = Observed<[String]>([])
    let threads: FileThreads

    /// The time limit for tests of calls that hang. Other calls end earlier, also on a slow machine.
    static let shortTimeout = Duration.seconds(5)

    /// - Parameters:
    ///   - timeout: The time limit of a call. No call exceeds the default one.
    ///   - change: Sets the first faults.
    init(timeout: Duration = .seconds(1000), _ change: (inout Faults) -> Void = { _ in }) {
        faults.update(change)
        var limits = FileThreads.Limits()
        limits.timeout = timeout
        limits.retryInterval = .seconds(1000)
        let (faults, hung) = (faults, hung)
        threads = FileThreads(
            limits,
            port: FileSystemPort(
                fault: { path in
                    let path = String(decoding: path, as: UTF8.self)
                    var isFirst = true
                    while faults.value.hanging.contains(where: path.contains) {
                        if isFirst { hung.append(path) }
                        isFirst = false
                        var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
                        nanosleep(&time, nil)
                    }
                    return faults.value.errors.first { path.contains($0.key) }?.value ?? 0
                },
                mountPoints: {
                    FileSystemPort().mountPoints().union(
                        faults.value.mountPoints.map { Array($0.utf8) })
                }))
    }

    deinit { faults.update { $0.hanging = [] } }
}
