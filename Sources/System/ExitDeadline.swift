internal import Glibc

/// The time limit for the exit of the process.
///
/// All confirmed changes are on the disk, so an exit without cleanup loses nothing. The cleanup can block: in a write
/// to a bus that does not read, or in a file system that does not respond.
package enum ExitDeadline {
    private static let limitMicroseconds: UInt32 = 1_500_000

    /// The timer, which is started at most once.
    private static let timer: Void = startTimer()

    /// Ends the process with status 0 after 1.5 seconds, regardless of its other threads. Later calls have no effect.
    package static func start() { timer }

    private static func startTimer() {
        var thread = pthread_t()
        // A thread, because a signal handler does not run while a file system blocks the main thread.
        let code = pthread_create(&thread, nil, { _ in ExitDeadline.endLater() }, nil)
        guard code != 0 else { return }
        signal(SIGALRM) { _ in _exit(EXIT_SUCCESS) }
        alarm(1)
    }

    private static func endLater() -> UnsafeMutableRawPointer? {
        usleep(limitMicroseconds)
        _exit(EXIT_SUCCESS)
    }
}
