internal import Dispatch
internal import Glibc

/// Tells that a descriptor is ready: for the ``MainLoop``, or, in a program without one, by the main queue.
@MainActor
package final class DescriptorSource {
    package enum Event {
        /// There is something to read, or nothing will ever come.
        case reading
        /// There is room, or nobody will ever read.
        case writing

        var polled: Int16 { Int16(self == .reading ? POLLIN : POLLOUT) }
    }

    package let descriptor: Int32
    let event: Event
    let handler: () -> Void
    private(set) var isRunning = false
    package private(set) var isCancelled = false
    /// nil in a program with a ``MainLoop``.
    private let dispatched: (any DispatchSourceProtocol)?

    /// Begins suspended.
    ///
    /// - Parameters:
    ///   - descriptor: Becomes the source's own, which closes it when it is cancelled.
    ///   - event: What is waited for.
    ///   - handler: Called as long as it lasts.
    package init(_ descriptor: Int32, _ event: Event, handler: @escaping () -> Void) {
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
        source.setEventHandler(handler: handler)
        source.setCancelHandler { close(descriptor) }
        dispatched = source
    }

    package func resume() {
        guard !isRunning, !isCancelled else { return }
        isRunning = true
        dispatched?.resume()
    }

    package func suspend() {
        guard isRunning else { return }
        isRunning = false
        dispatched?.suspend()
    }

    /// Waits no more. To be called before the last reference is gone.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        if let dispatched {
            dispatched.cancel()
            // One that is suspended would never close its descriptor, and cannot be let go of.
            if !isRunning { dispatched.resume() }
        } else {
            MainLoop.remove(self)
            close(descriptor)
        }
        isRunning = false
    }
}
