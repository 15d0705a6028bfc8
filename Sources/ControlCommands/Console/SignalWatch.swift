internal import Dispatch
internal import Glibc

/// Ctrl-C, and a polite request to end, are told to the program instead of ending it, as long as this lives.
@MainActor
final class SignalWatch {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handler: Called on the main queue.
    init(_ handler: @escaping () -> Void) {
        // One that comes before its source listens waits: what is blocked is not ignored.
        Self.mask(SIG_BLOCK)
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler(handler: handler)
            source.activate()
            return source
        }
    }

    isolated deinit {
        for source in sources { source.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        Self.mask(SIG_UNBLOCK)
    }

    private static func mask(_ how: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(how, &signals, nil)
    }
}
