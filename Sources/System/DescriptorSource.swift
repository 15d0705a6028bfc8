internal import Dispatch
internal import Glibc

/// A source of events of a descriptor: the ``MainLoop``, or the main queue in a program without one.
///
/// The source owns the descriptor. Its owner cancels it before it drops the last reference.
@MainActor
package final class DescriptorSource {
    package enum Event {
        /// Bytes can be read, or the end was reached. libdispatch does not report the end of a pipe in all cases.
        case reading
        /// Bytes can be written, or there is no reader any more.
        case writing

        var polled: Int16 { Int16(self == .reading ? POLLIN : POLLOUT) }
    }

    package let descriptor: Int32
    let event: Event
    /// nil after ``cancel()``.
    private(set) var handler: (@MainActor () -> Void)?
    private(set) var isRunning = false
    package private(set) var isCancelled = false
    /// nil in a program with a ``MainLoop``.
    private let dispatched: (any DispatchSourceProtocol)?

    /// Creates a suspended source.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor. The source closes it after ``cancel()``.
    ///   - event: The condition to wait for.
    ///   - handler: Called in each round of the event loop in which the condition holds. Kept until ``cancel()``.
    package init(_ descriptor: Int32, _ event: Event, handler: @escaping @MainActor () -> Void) {
        self.descriptor = descriptor
        self.event = event
        self.handler = handler
        guard !MainLoop.isUsed else {
            dispatched = nil
            MainLoop.add(self)
            return
        }
        let source: any DispatchSourceProtocol =
            switch event {
            case .reading:
                DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
            case .writing:
                DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
            }
        dispatched = source
        source.setEventHandler { [weak self] in self?.handler?() }
        source.setCancelHandler { close(descriptor) }
    }

    /// Begins to report events.
    package func resume() {
        guard !isRunning, !isCancelled else { return }
        isRunning = true
        if let dispatched { dispatched.resume() } else { MainLoop.sourceChanged() }
    }

    /// Stops reporting events, also those of the current round.
    package func suspend() {
        guard isRunning else { return }
        isRunning = false
        if let dispatched { dispatched.suspend() } else { MainLoop.sourceChanged() }
    }

    /// Stops reporting events for ever, releases the handler and closes the descriptor. libdispatch closes it later.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        if let dispatched {
            dispatched.cancel()
            // A suspended source would not close its descriptor, and must not be released.
            if !isRunning { dispatched.resume() }
        } else {
            MainLoop.remove(self)
            close(descriptor)
        }
        isRunning = false
        handler = nil
    }
}
