extension FileThreads {
    /// The limits of the threads.
    package struct Limits: Sendable {
        /// The time that a job may take without progress.
        package var timeout = Duration.seconds(10)
        /// The number of jobs that run at the same time, without the blocked ones.
        package var running = 8
        /// The number of threads that may be blocked.
        package var blocked = 64
        /// The number of threads that may be blocked in one part of the root folder: the root folder itself, or one
        /// of its subfolders with all folders below it.
        package var blockedInPart = 8
        /// The number of files of one folder that may be blocked before the whole folder counts as unavailable.
        package var blockedInFolder = 2
        /// The time after which a path is tried again although a thread is still blocked there. Each further attempt
        /// takes four times as long.
        package var retryInterval = Duration.seconds(60)

        package init() {}
    }
}
