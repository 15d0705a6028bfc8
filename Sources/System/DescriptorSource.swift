internal import Glibc

/// A source of events of a descriptor for the ``MainLoop``.
///
/// The owner of the source cancels it before the last reference is released.
@MainActor
package final class DescriptorSource {
    package enum Event {
        /// Bytes can be read, or the end was reached.
        case reading
        /// Bytes can be written, or the other end is closed.
        case writing
        /// The other end is closed.
        case closing

        var polled: Int16 {
            switch self {
            case .reading: Int16(POLLIN)
            case .writing: Int16(POLLOUT)
            // POLLERR and POLLHUP are always reported.
            case .closing: 0
            }
        }
    }

    package let descriptor: Int32
    let event: Event
    /// The object that closes the descriptor.
    private var owner: AnyObject?
    /// nil after ``cancel()``.
    private(set) var handler: (@MainActor () -> Void)?
    private(set) var isRunning = false
    package private(set) var isCancelled = false

    /// Creates a suspended source.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - event: The condition to wait for.
    ///   - owner: An object that closes the descriptor when it is released, retained until ``cancel()``; nil if
    ///     ``cancel()`` closes it.
    ///   - handler: Called in each round of the event loop in which the condition holds. Retained until ``cancel()``.
    package init(
        _ descriptor: Int32, _ event: Event, owner: AnyObject? = nil,
        handler: @escaping @MainActor () -> Void
    ) {
        self.owner = owner
        self.descriptor = descriptor
        self.event = event
        self.handler = handler
        MainLoop.add(self)
    }

    /// Begins to report events.
    package func resume() {
        guard !isRunning, !isCancelled else { return }
        isRunning = true
        MainLoop.sourceChanged()
    }

    /// Stops reporting events, also those of the current round.
    package func suspend() {
        guard isRunning else { return }
        isRunning = false
        MainLoop.sourceChanged()
    }

    /// Stops reporting events permanently, and releases the handler and the descriptor.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        MainLoop.remove(self)
        if owner == nil { close(descriptor) }
        owner = nil
        isRunning = false
        handler = nil
    }
}
