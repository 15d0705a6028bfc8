internal import Glibc

/// The time limit for the end of the process.
///
/// Everything that was confirmed to a client is on the disk, so an end without cleanup loses nothing. The cleanup
/// can block: in a write to a bus that reads nothing, or in a file system that does not respond.
nonisolated enum ExitDeadline {
    private static let limitMicroseconds: UInt32 = 1_500_000

    /// The timer, which is started once.
    private static let timer: Void = startTimer()

    /// Ends the process with status 0 after 1.5 seconds, whatever its other threads do. Later calls have no effect.
    static func start() { timer }

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
