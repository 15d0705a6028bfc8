internal import Glibc
internal import Synchronization
internal import System

/// Delivers SIGINT (Ctrl-C) and SIGTERM to a handler instead of ending the program, as long as it exists.
///
/// A signal handler writes to a pipe. A signal mask with a dispatch source loses a signal that
/// reaches a thread of Dispatch before that thread has blocked its signals.
@MainActor
final class SignalWatch {
    private static let signals = [SIGINT, SIGTERM]
    /// The handlers of the watches that exist, by watch.
    private static var handlers: [ObjectIdentifier: () -> Void] = [:]
    /// Reads the pipe; nil until the first watch.
    private static var source: DescriptorSource?

    /// - Parameter handler: Called on the main thread, once for the signals that arrive together.
    init(_ handler: @escaping () -> Void) {
        Self.handlers[ObjectIdentifier(self)] = handler
        Self.open()
        // Without a pipe the signals end the program, as they do without a watch.
        guard Self.source != nil else { return }
        for number in Self.signals {
            signal(number) { _ in
                var byte: UInt8 = 0
                let error = errno
                _ = write(writingEnd.load(ordering: .relaxed), &byte, 1)
                errno = error
            }
        }
    }

    isolated deinit {
        Self.handlers[ObjectIdentifier(self)] = nil
        guard Self.handlers.isEmpty else { return }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    private static func open() {
        guard source == nil else { return }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A full pipe already has what the handler would write.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writingEnd.store(ends[1], ordering: .relaxed)
        let readingEnd = ends[0]
        let source = DescriptorSource(readingEnd, .reading) {
            var bytes = [UInt8](repeating: 0, count: 64)
            guard read(readingEnd, &bytes, bytes.count) > 0 else { return }
            for handler in Self.handlers.values { handler() }
        }
        source.resume()
        Self.source = source
    }
}

/// The end of a pipe to which the signal handler writes. Set before the handler is installed.
private let writingEnd = Atomic<Int32>(-1)
