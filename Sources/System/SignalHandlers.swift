internal import Dispatch
internal import Glibc

/// The signals that end or reload the daemon.
///
/// They are handled from the start of the process, also while it waits for a lock or for the bus.
@MainActor
package final class SignalHandlers {
    /// Ends the process. Called on the main queue after `SIGTERM` or `SIGINT`, with the ``ExitDeadline`` running.
    package var onEnd: () -> Void = { exit(EXIT_SUCCESS) }
    /// Reads the configuration again. Called on the main queue after `SIGHUP`.
    package var onReload: () -> Void = {}
    private var sources: [any DispatchSourceSignal] = []

    package init() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            sources.append(Self.makeEndSource(number) { [unowned self] in onEnd() })
        }
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .main)
        source.setEventHandler { [unowned self] in onReload() }
        source.activate()
        sources.append(source)
    }

    /// Returns a source that starts the deadline on its own queue, because the main thread may be blocked.
    nonisolated private static func makeEndSource(
        _ number: Int32, _ end: @escaping @MainActor @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
            signal: number, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            ExitDeadline.start()
            DispatchQueue.main.async { MainActor.assumeIsolated { end() } }
        }
        source.activate()
        return source
    }
}
