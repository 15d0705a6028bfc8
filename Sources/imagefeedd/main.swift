internal import CLinux
internal import Configuration
internal import DBus
internal import Desktop
internal import Glibc
internal import Logging
internal import System

do {
    let (replacing, logLevel) = readOptions(CommandLine.arguments.dropFirst())
    // Blocked until the handlers exist, so that signals during the start are not lost.
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    if let problem = CurrentProcess.limitProblem() {
        printError(problem)
        exit(EXIT_FAILURE)
    }
    UserFolders.removeRelativeVariables()
    // One thread owns the state, and an idle daemon never wakes up.
    MainLoop.use()
    // One heap for the main thread, which would otherwise wait while another thread that has the lock of the heap is
    // not running, and one for all other threads: a short-lived library thread would otherwise leave its heap behind.
    mallopt(M_ARENA_MAX, 2)
    // Large blocks return to the system at once, regardless of earlier sizes.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 1 << 20)
    // Clients may have many open descriptors.
    CurrentProcess.raiseDescriptorLimit(to: 4096)
    // New files are accessible only to the user.
    umask(0o077)
    let isJournal = JournalLogHandler.writesToJournal
    LoggingSystem.bootstrap { _ in JournalLogHandler(logLevel: logLevel, isJournal: isJournal) }
    let handlers = SignalHandlers()
    let connection = try BusConnection.session()
    connection.onDisconnect = { exit(EXIT_SUCCESS) }
    Task {
        do {
            try await Daemon.start(
                connection, replacing: replacing, signals: handlers,
                logger: Logger(label: "imagefeedd"))
        } catch {
            printError("\(error)")
            exit(EXIT_FAILURE)
        }
    }
    MainLoop.run()
} catch BusError.noBus(let reason) {
    printError("there is no session bus: \(reason)")
    exit(EX_UNAVAILABLE)
}

func printError(_ reason: String) {
    var line = "imagefeedd: \(reason)\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
