internal import Glibc
internal import Synchronization
internal import System

/// A delivery of SIGINT (Ctrl-C) and SIGTERM to a handler. The signals do not end the program while the object exists.
///
/// The C signal handler writes to a pipe. A signal mask with a dispatch source would lose a signal that is delivered to
/// a Dispatch thread before this thread has blocked its signals.
@MainActor
final class SignalWatch {
    private static let signals = [SIGINT, SIGTERM]
    /// The handlers of the existing objects.
    private static var handlers: [ObjectIdentifier: () -> Void] = [:]
    /// The event source that reads the pipe; nil before the first object is created.
    private static var source: DescriptorSource?

    /// Starts the delivery.
    ///
    /// - Parameter handler: Called on the main thread. Signals that arrive at the same time cause one call.
    init(_ handler: @escaping () -> Void) {
        Self.handlers[ObjectIdentifier(self)] = handler
        Self.open()
        // If the pipe could not be created, the signals end the program as usual.
        guard Self.source != nil else { return }
        for number in Self.signals { signal(number, reportSignal) }
    }

    isolated deinit {
        Self.handlers[ObjectIdentifier(self)] = nil
        guard Self.handlers.isEmpty else { return }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    private static func open() {
        guard source == nil else { return }
        guard let ends = try? PipeEnds() else { return }
        // If the pipe is full, a notification is already pending, and the handler must not block.
        _ = fcntl(ends.writing, F_SETFL, O_NONBLOCK)
        writingEnd.store(ends.takeWriting(), ordering: .relaxed)
        let readingEnd = ends.takeReading()
        _ = fcntl(readingEnd, F_SETFL, O_NONBLOCK)
        let source = DescriptorSource(readingEnd, .reading) {
            var bytes = [UInt8](repeating: 0, count: 64)
            guard read(readingEnd, &bytes, bytes.count) > 0 else { return }
            for handler in Self.handlers.values { handler() }
        }
        source.resume()
        Self.source = source
    }
}

/// The write end of the pipe. It is set before the C signal handler is installed.
private let writingEnd = Atomic<Int32>(-1)

/// The C signal handler, which belongs to no actor.
///
/// A closure in ``SignalWatch`` would check for the main actor first. This check takes locks that the interrupted code
/// may hold, and ends the process if the signal arrives on another thread.
private func reportSignal(_ number: Int32) {
    var byte: UInt8 = 0
    let error = errno
    _ = write(writingEnd.load(ordering: .relaxed), &byte, 1)
    errno = error
}
